"""Fourier transforms, for the table of cases."""
import numpy as np


def dft(re, im, inverse=False):
    result = (np.fft.ifft if inverse else np.fft.fft)(re + 1j * im)
    return result.real, result.imag


def stft(data, window, n_fft, hop, normalized=False, onesided=True):
    signals = data.reshape(-1, data.shape[-1])
    frames = np.lib.stride_tricks.sliding_window_view(signals, n_fft, 1)[:, ::hop] * window
    spectrum = np.fft.fft(frames).swapaxes(1, 2)
    if normalized:
        spectrum = spectrum / np.sqrt(n_fft)
    if onesided:
        spectrum = spectrum[:, :n_fft // 2 + 1]
    result = np.stack([spectrum.real, spectrum.imag], -1)
    return result if data.ndim == 2 else result[0]
