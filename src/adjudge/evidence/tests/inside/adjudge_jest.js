// Runs test files with the Jest of the project and reports what it says, in the words used for pytest.
//
// Run as `node -e <this text>` with a JSON order on stdin; the report channel is descriptor 3, and all that is
// printed goes to stdout. Test files run in a process apart from this one, which loads Jest and what the
// project's configuration names, before the first test file is loaded.

function main() {
  const order = readOrder();
  const reports = new Reports(3);
  const root = process.cwd();
  const relative = relativeTo(root);
  cleanEnvironment(order);
  process.env.NODE_ENV = process.env.NODE_ENV || "test";
  let jest, version;
  try {
    const found = require.resolve("jest", { paths: [root] });
    jest = require(found);
    version = jest.getVersion();
  } catch (error) {
    reports.unavailable("Jest cannot be loaded: " + error.message.split("\n")[0]);
  }
  if (Number(version.split(".")[0]) < 27) reports.unavailable("Jest " + version + " is too old; 27 is needed");

  let running = [];
  let hung;
  const early = new Map();
  const watch = new Watch(order.test_timeout_s, () => {
    hung = running;
    // Should Jest not notice, nobody would end this session.
    setTimeout(() => {
      reports.end(1);
      process.exit(1);
    }, GRACE_MS);
  });

  const OUTCOMES = { passed: "passed", failed: "failed" };
  function report(file, result) {
    const outcome = OUTCOMES[result.status] || "skipped";
    if (outcome === "failed") reports.failed = true;
    reports.test(file, [...result.ancestorTitles, result.title], outcome, (result.duration || 0) / 1000, withoutStack((result.failureMessages || [])[0]));
  }

  globalThis.adjudgeReporter = {
    onRunStart() {
      reports.send({ k: "started", runner: "Jest " + version });
    },
    onTestFileStart() {
      early.clear();
      watch.begin(true);
    },
    onTestCaseStart(test, info) {
      running = [...info.ancestorTitles, info.title];
      watch.begin();
    },
    onTestCaseResult(test, result) {
      watch.begin(true);
      running = [];
      early.set(JSON.stringify([result.ancestorTitles, result.title, early.size]), result);
    },
    onTestFileResult(test, result) {
      watch.end();
      const file = relative(result.testFilePath || test.path);
      for (const one of result.testResults) report(file, one);
      if (result.testExecError || (result.failureMessage && result.testResults.length === 0)) {
        // The process of the file is gone; what it said before is all there is.
        for (const one of early.values()) report(file, one);
        if (hung && hung.length > 0) {
          reports.failed = true;
          reports.test(file, hung, "failed", order.test_timeout_s, "it was still running after its time was up");
        } else {
          reports.uncollected(file, withoutStack((result.testExecError || {}).message || result.failureMessage));
        }
      }
      hung = undefined;
    },
    onRunComplete() {},
    getLastError() {},
  };
  // Jest takes reporters by path only. It is loaded before any test file is, and never again.
  const place = fs.mkdtempSync("/tmp/");
  const shim = path.join(place, "reporter.js");
  fs.writeFileSync(shim, "module.exports = class { constructor() { return globalThis.adjudgeReporter; } };\n");

  const argv = {
    $0: "jest",
    _: order.patterns,
    cache: false,
    ci: true,
    maxWorkers: 1,
    // With a limit, and only then, Jest never runs test files in this process.
    workerIdleMemoryLimit: 1e12,
    passWithNoTests: true,
    reporters: [shim],
    watchman: false,
    ...order.options,
    ...(order.collect_only ? { testNamePattern: "^(?!)" } : {}),
  };
  Object.defineProperty(process, "stderr", { get: () => process.stdout });
  jest
    .runCLI(argv, [root])
    .then(({ results }) => {
      watch.end();
      for (const error of results.runExecError ? [results.runExecError] : []) reports.uncollected("(run)", error.message);
      const code = reports.failed || !results.success ? 1 : 0;
      reports.end(code);
      process.exit(code);
    })
    .catch((error) => reports.unavailable("Jest cannot be run: " + withoutStack(error.message || error)));
}

main();
