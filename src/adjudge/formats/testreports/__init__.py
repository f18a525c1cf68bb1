"""Test reports: what a runner wrote, as a `TestReport`. One format a module, every byte of it hostile.

`detect` picks the format and joins the files of one run; `agreement` compares a report with the exit code.
A report says what the runner claims. Whether the claim can be believed is decided where the run was made.

Ids are those of the runner, with `::` between a file, package or class and the test in it:

| format | id |
|---|---|
| `junit` | `classname::name`; the names of nested suites where the class name says nothing |
| `go-json` | `package::Test/subtest` |
| `jest` | `file::describe > test` |
| `tap` | `parent::child` |
| `cargo` | `module::test` as libtest names it |
| `ctrf` | `file::name` |
| `rspec` | `file::full description` |
"""
