"""Sides take turns, so that what else the machine does meets all of them."""
import statistics
import time

TURN = 0.03  # seconds that a side runs at a time, about
PAUSE = 0.04  # before that: threads of ONNX Runtime go on looking for work for 26 ms


def raced(sides, rounds):
    """The median seconds of each side."""
    times = [[] for _ in sides]
    counts = []
    for side in sides:
        first = min(side.run(2))
        counts.append(max(2, min(100, round(TURN / max(first, 1e-6)))))
    for _ in range(rounds):
        for own, side, count in zip(times, sides, counts):
            time.sleep(PAUSE)
            own += side.run(count + 1)[1:]  # the first finds the caches as another side has left them
    return [statistics.median(own) for own in times]
