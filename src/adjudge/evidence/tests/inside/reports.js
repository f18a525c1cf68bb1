// What the reporters of node:test, Jest and Vitest have in common. Their text is sent behind this one.
"use strict";

const fs = require("node:fs");
const path = require("node:path");

const TEXT = 2000;
const IDS_AT_ONCE = 200;
const GRACE_MS = 10000;
const BETWEEN_MS = 60000;

/** Sends reports over one descriptor, and keeps count of what was sent. */
class Reports {
  constructor(descriptor) {
    this.descriptor = descriptor;
    this.times = new Map();
    this.collected = [];
    this.failed = false;
    this.write = fs.writeSync;
  }

  send(report) {
    // ASCII only, as the other reporters do; a lone surrogate stays an escape.
    const line = JSON.stringify(report).replace(/[\u007f-\uffff]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
    let rest = Buffer.from(line + "\n", "latin1");
    while (rest.length > 0) {
      try {
        rest = rest.subarray(this.write(this.descriptor, rest));
      } catch (error) {
        if (error.code !== "EAGAIN") throw error;
      }
    }
  }

  /** One test: `outcome` is passed, failed or skipped. The second one of a name gets another id. */
  test(file, names, outcome, seconds, why) {
    let id = file + "::" + names.join(" > ");
    const seen = (this.times.get(id) || 0) + 1;
    this.times.set(id, seen);
    if (seen > 1) id += " #" + seen;
    this.collected.push(id);
    this.send({
      k: "test",
      id,
      phases: [
        ["setup", "passed", false, false, 0, ""],
        ["call", outcome, false, false, Number(seconds) || 0, text(why)],
        ["teardown", "passed", false, false, 0, ""],
      ],
    });
  }

  uncollected(id, why) {
    this.failed = true;
    this.send({ k: "uncollected", id, outcome: "failed", message: text(why) });
  }

  end(code) {
    for (let at = 0; at < this.collected.length; at += IDS_AT_ONCE) {
      this.send({ k: "collected", ids: this.collected.slice(at, at + IDS_AT_ONCE) });
    }
    this.send({ k: "end", exit: code });
  }

  unavailable(why) {
    this.send({ k: "unavailable", message: text(why) });
    process.exit(3);
  }
}

/** Ends the processes of test files when a test has said nothing for too long: nothing else stops a loop. */
class Watch {
  constructor(seconds, fired) {
    // Runners stop what waits by themselves; they get the first chance.
    this.ms = seconds > 0 ? seconds * 1000 + Math.max(1000, Math.min(GRACE_MS, seconds * 1000)) : 0;
    this.fired = fired;
    this.timer = undefined;
  }

  /** A test runs, or, when it is `between`, files are loaded and tidied up. */
  begin(between = false) {
    this.end();
    if (this.ms === 0) return;
    this.timer = setTimeout(() => {
      this.fired();
      for (const handle of process._getActiveHandles()) {
        if (handle.constructor.name === "ChildProcess") handle.kill("SIGKILL");
      }
    }, between ? Math.max(this.ms, BETWEEN_MS) : this.ms);
    this.timer.unref();
  }

  end() {
    clearTimeout(this.timer);
  }
}

function text(value) {
  let said;
  try {
    said = String(value === undefined || value === null ? "" : value).replace(/\u001b\[[0-9;]*m/g, "");
  } catch {
    said = "a message that cannot be shown";
  }
  return said.length <= TEXT ? said : said.slice(0, TEXT / 2) + "\n[...]\n" + said.slice(-TEXT / 2);
}

function withoutStack(said) {
  return String(said === undefined || said === null ? "" : said).replace(/\n\s+at [^]*$/, "");
}

function readOrder() {
  return JSON.parse(fs.readFileSync(0, "utf8"));
}

/** Takes away what the environment would tell node, but for what the order keeps. */
function cleanEnvironment(order) {
  for (const name of Object.keys(process.env)) {
    if (/^(NODE_|JEST_|VITEST_|VITE_|npm_)/.test(name) && !order.keep_env.includes(name)) delete process.env[name];
  }
  // Otherwise the processes of the test files would be started with this very text.
  process.execArgv = order.node_options || [];
}

function relativeTo(root) {
  return (file) => (file.startsWith(root + "/") ? file.slice(root.length + 1) : file);
}
