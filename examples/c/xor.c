/* Learns exclusive or with the network of xor.relay, which `relay build` has made a shared object of:
   neither Relay nor LLVM is needed where this runs. */

#include <stdio.h>

#include "xor.h"

static void descend(float *value, const float *slope, int count) {
  for (int i = 0; i < count; ++i) value[i] -= 0.3f * slope[i];
}

static int fail(void) {
  fprintf(stderr, "%s\n", xor_error());
  return 1;
}

int main(void) {
  const float x[] = {0, 0, 0, 1, 1, 0, 1, 1};
  const float y[] = {0, 1, 1, 0};
  float w[16], b[8], v[8], dw[16], db[8], dv[8];
  for (int i = 0; i < 16; ++i) w[i] = (float)(i * 37 % 16) / 8.0f - 1.0f;
  for (int i = 0; i < 8; ++i) b[i] = (float)(i * 5 % 8) / 8.0f, v[i] = (float)(i % 3) / 4.0f - 0.25f;
  const xor_Net net = {w, b, v};
  xor_Net slope = {dw, db, dv};
  float value = 0;
  for (int step = 0; step < 500; ++step) {
    /* The gradient by x and y is not wanted. */
    if (xor_loss_gradient(4, &net, x, y, &value, &slope, NULL, NULL) != 0) return fail();
    descend(w, dw, 16);
    descend(b, db, 8);
    descend(v, dv, 8);
  }
  float result[4];
  if (xor_forward(4, &net, x, result) != 0) return fail();
  for (int i = 0; i < 4; ++i)
    printf("%.0f xor %.0f is %.2f\n", x[2 * i], x[2 * i + 1], result[i]);
  return value < 0.01f ? 0 : 1;
}
