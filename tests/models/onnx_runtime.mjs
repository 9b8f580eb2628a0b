// Runs a model with ONNX Runtime (npm i --ignore-scripts onnxruntime-node): for tests/models/quantized_models.py.
//   node onnx_runtime.mjs MODEL FEEDS RESULTS
// FEEDS and RESULTS are JSON: {name: {type, dims, data}}; integers of 64 bits are strings, and what is not finite.
import { createRequire } from 'node:module';
import { readFileSync, writeFileSync } from 'node:fs';
const ort = createRequire(process.cwd() + '/')('onnxruntime-node');
const [, , model, feeds, results] = process.argv;
const arrays = { float32: Float32Array, int32: Int32Array, uint8: Uint8Array, int8: Int8Array, int64: BigInt64Array, bool: Uint8Array, float64: Float64Array, uint32: Uint32Array };
const given = {};
for (const [name, { type, dims, data }] of Object.entries(JSON.parse(readFileSync(feeds)))) {
  const values = type === 'int64' ? data.map(BigInt) : data;
  given[name] = new ort.Tensor(type, arrays[type].from(values), dims);
}
const session = await ort.InferenceSession.create(model);
const found = await session.run(given);
const out = {};
for (const name of session.outputNames) {
  const { type, dims, data } = found[name];
  out[name] = { type, dims, data: Array.from(data, (v) => (typeof v === 'bigint' || !Number.isFinite(v) ? v.toString() : v)) };
}
writeFileSync(results, JSON.stringify(out));
