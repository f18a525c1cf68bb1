// Runs test files with node:test and reports what it says, in the words used for pytest.
//
// Run as `node -e <this text>` with a JSON order on stdin, so nothing of it lies in a file that the candidate
// could change. Each test file runs in a process of its own; this one loads nothing from the workspace. Reports
// go to the sandbox's second stream, which the processes of the test files are not given. They run as the same
// user and may find it all the same: what is reported is believed no further than twin sessions prove it.

function message(error) {
  if (!error) return "";
  const cause = error.cause;
  if (cause && typeof cause === "object" && cause.message) return cause.message;
  return cause || error.message || error;
}

function main() {
  const order = readOrder();
  const reports = new Reports(2);
  const major = Number(process.versions.node.split(".")[0]);
  if (major < 20) {
    reports.unavailable("node " + process.version + " is too old; 20 is needed");
  }
  const { run } = require("node:test");
  cleanEnvironment(order);
  if (order.test_timeout_s > 0 && major >= 24) {
    process.execArgv = ["--test-timeout=" + Math.ceil(order.test_timeout_s * 1000)];
  }
  const root = process.cwd();
  const relative = relativeTo(root);
  const files = order.files.map((file) => path.resolve(root, file));
  reports.send({ k: "started", runner: "node:test " + process.version });

  // One file runs after the other, so what is open is the path to the test that is reported next.
  const open = [];
  let current = "";
  // node says nothing of a file whose process was ended, once it has reported a test.
  const watch = new Watch(order.test_timeout_s, () => {
    reports.uncollected(relative(current), "a test was still running after its time was up");
  });

  function ended(data, outcome) {
    const details = data.details || {};
    const file = typeof data.file === "string" ? data.file : "";
    const where = relative(file);
    if (outcome === "failed" && data.todo === undefined) reports.failed = true;
    let names = [...open.slice(0, data.nesting), data.name];
    if (data.nesting === 0 && files.includes(data.name) && data.name === file) {
      if (outcome === "failed") reports.uncollected(where, message(details.error));
      names = ["(file)"];
    }
    if (details.type === "suite") {
      if (outcome === "failed" && (details.error || {}).failureType !== "subtestsFailed") {
        reports.uncollected(where + "::" + names.join(" > "), message(details.error));
      }
      return;
    }
    const skipped = data.skip !== undefined || data.todo !== undefined;
    const why = skipped ? (data.skip === true || data.skip === undefined ? "" : data.skip) : message(details.error);
    reports.test(where, names, skipped ? "skipped" : outcome, Number(details.duration_ms) / 1000, why);
  }

  const stream = run({ files, concurrency: 1, timeout: order.file_timeout_s * 1000 });
  stream.on("test:start", (data) => {
    open.length = Math.min(open.length, data.nesting);
    open.push(data.name);
  });
  for (const kind of ["test:enqueue", "test:dequeue", "test:start"]) {
    stream.on(kind, (data) => (current = data.file || (files.includes(data.name) ? data.name : current)));
  }
  // The file itself is the outermost test; it begins with loading.
  for (const kind of ["test:dequeue", "test:start"]) stream.on(kind, (data) => watch.begin(files.includes(data.name)));
  for (const kind of ["test:enqueue", "test:pass", "test:fail"]) stream.on(kind, () => watch.begin(true));
  stream.on("test:pass", (data) => ended(data, "passed"));
  stream.on("test:fail", (data) => ended(data, "failed"));
  for (const kind of ["test:stdout", "test:stderr"]) {
    stream.on(kind, (data) => process.stdout.write(String(data.message)));
  }
  stream.on("end", () => {
    watch.end();
    const code = reports.failed ? 1 : 0;
    reports.end(code);
    process.exitCode = code;
  });
  stream.resume();
}

main();
