export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@a
printf 'x = 2\n' > a.py
git commit -qa --amend -m Start
git repack -q -a -d
ln -s a.py inside.py
