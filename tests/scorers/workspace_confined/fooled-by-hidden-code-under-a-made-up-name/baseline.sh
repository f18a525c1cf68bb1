export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@a
git init -q -b main .
printf 'x = 1\n' > a.py
printf 'def test_a():\n    assert True\n' > test_a.py
git add -A
git commit -qm Start
