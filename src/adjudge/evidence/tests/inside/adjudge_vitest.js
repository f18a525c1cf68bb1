// Runs test files with the Vitest of the project and reports what it says, in the words used for pytest.
//
// Run as `node -e <this text>` with a JSON order on stdin; the report channel is descriptor 3, and all that is
// printed goes to stdout. Test files run in processes apart from this one, which loads Vitest and what the
// project's configuration names.

async function load(root) {
  const { createRequire } = require("node:module");
  const { pathToFileURL } = require("node:url");
  const near = createRequire(path.join(root, "package.json"));
  const place = path.dirname(near.resolve("vitest/package.json"));
  const described = JSON.parse(fs.readFileSync(path.join(place, "package.json"), "utf8"));
  const entry = described.exports["./node"];
  const file = typeof entry === "string" ? entry : entry.default || entry.import;
  const loaded = await import(pathToFileURL(path.join(place, file)).href);
  return { startVitest: loaded.startVitest, version: described.version };
}

async function main() {
  const order = readOrder();
  const reports = new Reports(3);
  const root = process.cwd();
  const relative = relativeTo(root);
  cleanEnvironment(order);
  process.env.NODE_ENV = process.env.NODE_ENV || "test";
  process.env.TEST = process.env.VITEST = "true";
  let startVitest, version;
  try {
    ({ startVitest, version } = await load(root));
  } catch (error) {
    reports.unavailable("Vitest cannot be loaded: " + String(error.message).split("\n")[0]);
  }
  if (Number(version.split(".")[0]) < 3) reports.unavailable("Vitest " + version + " is too old; 3 is needed");

  let running;
  let finished = false;
  const done = new Set();
  const names = (one) => {
    const found = [];
    for (let at = one; at && at.type !== "module"; at = at.parent) found.unshift(at.name);
    return found;
  };
  function report(one) {
    if (done.has(one.id)) return;
    done.add(one.id);
    const result = one.result();
    const outcome = result.state === "passed" || result.state === "failed" ? result.state : "skipped";
    if (outcome === "failed") reports.failed = true;
    const said = outcome === "failed" && result.errors && result.errors[0] ? result.errors[0].message : "";
    const seconds = ((one.diagnostic() || {}).duration || 0) / 1000;
    reports.test(relative(one.module.moduleId), names(one), outcome, seconds, said);
  }
  function finish(code) {
    if (finished) return;
    finished = true;
    reports.end(code);
    process.exit(code);
  }
  const watch = new Watch(order.test_timeout_s, () => {
    reports.failed = true;
    if (running) {
      done.add(running.id);
      reports.test(relative(running.module.moduleId), names(running), "failed", order.test_timeout_s, "it was still running after its time was up");
    }
    // Should Vitest not notice, nobody would end this session.
    setTimeout(() => finish(1), GRACE_MS);
  });

  const reporter = {
    onTestRunStart() {
      reports.send({ k: "started", runner: "Vitest " + version });
    },
    onTestModuleQueued() {
      watch.begin(true);
    },
    onTestModuleStart() {
      watch.begin(true);
    },
    onTestCaseReady(one) {
      running = one;
      watch.begin();
    },
    onTestCaseResult() {
      running = undefined;
      watch.begin(true);
    },
    onTestModuleEnd(module) {
      if (done.has(module.id)) return;
      done.add(module.id);
      watch.end();
      // In the order of the source: results arrive as tests end.
      for (const one of module.children.allTests()) if (one.result().state !== "pending") report(one);
      for (const error of module.errors()) {
        reports.uncollected(relative(module.moduleId), error.message);
      }
      for (const suite of module.children.allSuites()) {
        for (const error of suite.errors()) {
          reports.uncollected(relative(module.moduleId) + "::" + names(suite).join(" > "), error.message);
        }
      }
    },
    onTestRunEnd(modules, errors) {
      // One that could not be loaded has not always ended before.
      for (const module of modules) reporter.onTestModuleEnd(module);
      watch.end();
      for (const error of errors) reports.uncollected("(run)", error.message);
      setTimeout(() => finish(reports.failed ? 1 : 0), GRACE_MS).unref();
    },
  };
  Object.defineProperty(process, "stderr", { get: () => process.stdout });
  const options = {
    watch: false,
    run: true,
    passWithNoTests: true,
    cache: false,
    coverage: { enabled: false },
    reporters: [reporter],
    pool: "forks",
    fileParallelism: false,
    maxWorkers: 1,
    allowOnly: true,
    ui: false,
    open: false,
    bail: 0,
    // New snapshots are not written, as in CI.
    update: false,
    ...order.options,
    ...(order.collect_only ? { testNamePattern: "^(?!)" } : {}),
  };
  process.env.CI = process.env.CI || "true";
  try {
    const vitest = await startVitest("test", order.patterns, options, {}, {});
    watch.end();
    if (vitest) await Promise.race([vitest.close(), new Promise((resolve) => setTimeout(resolve, GRACE_MS))]);
  } catch (error) {
    reports.unavailable("Vitest cannot be run: " + withoutStack(error.message || error));
  }
  finish(reports.failed || process.exitCode ? 1 : 0);
}

main();
