// What each C++ side of the race gives: one run of the work, and a value that depends on all of it.
#pragma once
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

double once();

// A value that the compiler does not know.
template <class T>
T hidden(T value) {
  asm volatile("" : "+m"(value));
  return value;
}

int main(int, char** arguments) {
  const int rounds = std::atoi(arguments[1]);
  double sum = once();
  for (int i = 0; i < rounds; ++i) {
    const auto start = std::chrono::steady_clock::now();
    sum += once();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    std::printf("%.9f\n", time.count());
  }
  std::fprintf(stderr, "%g\n", sum);
}
