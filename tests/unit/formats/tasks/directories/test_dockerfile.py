"""What a Dockerfile says about a workspace, and which line needs an image."""

from __future__ import annotations

import pytest

from adjudge.formats.tasks.directories.dockerfile import Copied, parse_dockerfile

pytestmark = pytest.mark.anyone


def test_a_plain_one_is_understood() -> None:
    made = parse_dockerfile(
        """# a comment
FROM --platform=linux/amd64 docker.io/library/python:3.12-slim AS base
LABEL x=y
ENV A=1 B="two words"
ENV OLD style
WORKDIR /app
RUN mkdir -p /app/data && mkdir out
COPY . .
COPY --chown=me data.csv \\
     notes.txt data/
COPY ["a b.txt", "renamed.txt"]
USER nobody
CMD ["sh"]
"""
    )
    assert made.needs_image == ""
    assert made.workdir == "/app"
    assert made.env == {"A": "1", "B": "two words", "OLD": "style"}
    assert made.copies == [
        Copied(".", ".", True),
        Copied("data.csv", "data", True),
        Copied("notes.txt", "data", True),
        Copied("a b.txt", "renamed.txt", False),
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("FROM nvidia/cuda:12\n", "line 1: FROM nvidia/cuda:12"),
        ("FROM someone/python\n", "line 1: FROM someone/python"),
        ("FROM ubuntu\nRUN apt-get update\n", "line 2: RUN apt-get update"),
        ("FROM ubuntu\n\nRUN mkdir -p a && \\\n  pip install x\n", "line 3: RUN mkdir -p a && pip install x"),
        ("FROM ubuntu\nRUN mkdir $(evil)\n", "line 2: RUN mkdir $(evil)"),
        ("FROM ubuntu\nCOPY a /etc/a\n", "line 2: COPY a /etc/a: outside /workspace"),
        ("FROM ubuntu\nWORKDIR /app\nCOPY *.py .\n", "line 3: COPY *.py ."),
        ("FROM ubuntu\nCOPY --from=build /a /workspace/a\n", "line 2: COPY --from=build /a /workspace/a"),
        ("FROM ubuntu\nCOPY ../a .\n", "line 2: COPY ../a .: outside /workspace"),
        ("FROM ubuntu\nADD x.tar.gz /workspace/\n", "line 2: ADD x.tar.gz /workspace/"),
        ("FROM ubuntu\nENV PATH=/x:$PATH\n", "line 2: ENV PATH=/x:$PATH"),
        ("FROM ubuntu AS a\nFROM ubuntu\n", "line 2: a build in several stages"),
        ("FROM ubuntu\nONBUILD RUN x\n", "line 2: ONBUILD RUN x"),
        ("WORKDIR /app\n", "it has no FROM"),
        ("", "it has no FROM"),
        ("FROM ubuntu\nENV 'x\n", "line 2: ENV 'x"),
        ("FROM ubuntu\nCOPY [1]\n", "line 2: COPY [1]"),
        ("FROM ubuntu\nWORKDIR $X\n", "line 2: WORKDIR $X"),
    ],
)
def test_what_only_an_image_has_is_named(text: str, why: str) -> None:
    assert parse_dockerfile(text).needs_image == why
