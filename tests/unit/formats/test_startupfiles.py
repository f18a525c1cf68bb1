"""Lines that installers put into files that programs start with, and lines that act on later runs."""

from __future__ import annotations

import pytest

from adjudge.formats.startupfiles import is_ordinary_startup, is_startup_file

pytestmark = pytest.mark.anyone

CONDA = """\
# >>> conda initialize >>>
__conda_setup="$('/root/miniconda3/bin/conda' 'shell.bash' 'hook' 2> /dev/null)"
if [ $? -eq 0 ]; then
    eval "$__conda_setup"
else
    if [ -f "/root/miniconda3/etc/profile.d/conda.sh" ]; then
        . "/root/miniconda3/etc/profile.d/conda.sh"
    else
        export PATH="/root/miniconda3/bin:$PATH"
    fi
fi
unset __conda_setup
"""
PNPM = """\
export PNPM_HOME="/opt/pnpm"
case ":$PATH:" in
  *":$PNPM_HOME:"*) ;;
  *) export PATH="$PNPM_HOME:$PATH" ;;
esac
"""


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (".bashrc", CONDA),
        (".zshrc", PNPM),
        (
            ".bashrc",
            'export NVM_DIR="$HOME/.nvm"\n[ -s "$NVM_DIR/nvm.sh" ] && \\. "$NVM_DIR/nvm.sh"  # loads nvm\n',
        ),
        (".profile", '. "$HOME/.cargo/env"\n'),
        (
            ".bashrc",
            '[[ -d $PYENV_ROOT/bin ]] && export PATH="$PYENV_ROOT/bin:$PATH"\neval "$(pyenv init - bash)"\n',
        ),
        (".bashrc", "alias ll='ls -l'\nalias python=python3\nexport EDITOR=vim\nexport DATABASE_URL=x\n"),
        (".bashrc", 'eval "$(direnv hook bash)"\nexport PATH=$PATH:/usr/local/go/bin\n'),
        (".npmrc", "registry=https://r.example/\n//r.example/:_authToken=x\nfund=false\n"),
        (
            ".gitconfig",
            '[user]\n\tname = a\n[safe]\n\tdirectory = *\n[filter "lfs"]\n\tclean = git-lfs clean -- %f\n',
        ),
        ("a/site-packages/x.pth", "/workspace/src\n"),
        ("__editable__.a.pth", "import __editable___a_finder; __editable___a_finder.install()\n"),
    ],
)
def test_lines_of_installers(path: str, text: str) -> None:
    assert is_startup_file(path)
    assert is_ordinary_startup(path, text)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (".bashrc", "exit 0\n"),
        (".bashrc", 'pytest() { echo "1 passed"; }\n'),
        (".zshrc", "function python { :; }\n"),
        (".bashrc", "alias pytest=true\n"),
        (".bashrc", 'export PYTEST_ADDOPTS="-k nothing"\n'),
        (".profile", "export PYTHONPATH=/tmp/x:$PYTHONPATH\n"),
        (".bashrc", "LD_PRELOAD=/tmp/a.so\n"),
        (".bashrc", "export BASH_ENV=~/.x\n"),
        (".bashrc", "cp /tmp/t /workspace/tests\n"),
        (".bashrc", "if true; then pytest() { :; }; fi\n"),
        (".bashrc", "[ -f x ] && cp a b\n"),
        (".bashrc", 'trap "exit 0" EXIT\n'),
        (".npmrc", "script-shell=/tmp/sh\n"),
        (".npmrc", "node-options=--require /tmp/x\n"),
        (".gitconfig", "[core]\n hooksPath = /tmp/h\n"),
        (".gitconfig", "[alias]\n diff = !true\n"),
        (".config/git/config", "[core]\n\texcludesFile = /tmp/x\n"),
        ("zz.pth", "import os; os.system('x')\n"),
    ],
)
def test_lines_that_act_on_later_runs(path: str, text: str) -> None:
    assert is_startup_file(path)
    assert not is_ordinary_startup(path, text)
