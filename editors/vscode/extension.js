// Starts `relay lsp` for texts in Relay, and connects the editor with it.
"use strict";

const { commands, window, workspace } = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

let client;

function makeClient() {
  const settings = workspace.getConfiguration("relay");
  const folders = settings.get("searchPath", []).flatMap((folder) => ["-I", folder]);
  const server = {
    command: settings.get("path", "relay"),
    args: ["lsp", ...folders],
    transport: TransportKind.stdio,
  };
  return new LanguageClient("relay", "Relay", server, {
    documentSelector: [{ language: "relay" }],
    synchronize: { fileEvents: workspace.createFileSystemWatcher("**/*.relay") },
  });
}

async function start() {
  client = makeClient();
  try {
    await client.start();
  } catch (error) {
    window.showErrorMessage(`Relay: ${error.message}. The setting \`relay.path\` says where \`relay\` is.`);
  }
}

// One that has not started cannot be stopped, and says so; the next one may start.
async function stop() {
  await client?.stop().catch(() => {});
  client = undefined;
}

async function activate(context) {
  context.subscriptions.push(
    commands.registerCommand("relay.restart", async () => {
      await stop();
      await start();
    }),
  );
  await start();
}

function deactivate() {
  return stop();
}

module.exports = { activate, deactivate };
