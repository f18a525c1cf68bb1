"""The instance is a project that is graded; its tests are not ours."""

collect_ignore = ["swebench_instance"]
