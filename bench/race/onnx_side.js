// ONNX Runtime's side of the race: a process that is asked, line by line, as torch_side.py is.
// `prepare FILE SHAPES` loads a model, whose inputs have these shapes, as in `64x784,64x10`; `run N` answers the seconds
// of N runs. Usage: node onnx_side.js FOLDER-OF-MODULES THREADS
const readline = require("readline");
const [modules, threads] = process.argv.slice(2);
const runtime = require(`${modules}/onnxruntime-node`);

// The numbers that cases.py defines; inputs of a model are not divided.
function numbers(index, count) {
  const made = new Float32Array(count);
  for (let i = 0; i < count; ++i) made[i] = Math.fround(Math.fround((i * (7 + index)) % 2003) / 1001) - 1;
  return made;
}

let session;
let inputs;

async function prepare(file, shapes) {
  if (session) await session.release();
  session = await runtime.InferenceSession.create(file, {
    intraOpNumThreads: Number(threads), interOpNumThreads: 1, executionMode: "sequential", graphOptimizationLevel: "all",
    logSeverityLevel: 3,
  });
  inputs = {};
  shapes.split(",").forEach((text, index) => {
    const shape = text.split("x").map(Number);
    inputs[`x${index}`] = new runtime.Tensor("float32", numbers(index, shape.reduce((a, b) => a * b, 1)), shape);
  });
  const { data } = (await session.run(inputs)).result;
  return data.reduce((sum, each) => sum + Math.abs(each), 0) / data.length;
}

async function run(count) {
  const times = [];
  for (let i = 0; i < count; ++i) {
    const start = process.hrtime.bigint();
    await session.run(inputs);
    times.push(Number(process.hrtime.bigint() - start) / 1e9);
  }
  return times.join(" ");
}

async function main() {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const [command, ...rest] = line.split(" ");
    process.stdout.write(`${await (command === "prepare" ? prepare(...rest) : run(Number(rest[0])))}\n`);
  }
}
main();
