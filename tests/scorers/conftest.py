"""Case folders hold tests of the projects that are graded, which are not tests of this one."""

collect_ignore_glob = ["*/*/hidden"]
