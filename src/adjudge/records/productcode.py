"""What product code does that may be a trick, and what it answers; what tests write down as examples."""

from __future__ import annotations

from enum import StrEnum

from adjudge.records.base import Record

__all__ = ["Act", "Answer", "AnswerForm", "Example", "ExampleOutline", "ProductOutline"]


class Act(Record):
    """One thing that product code does and that somebody should look at."""

    rule: str
    line: int
    text: str
    """As it is written, on one line, capped."""
    key: str
    """Equal for the same act in another place."""
    why: str
    """What it does, as the end of a sentence that starts with the code."""
    proof: bool = False
    """Whether it has no honest reading in product code."""


class AnswerForm(StrEnum):
    """How an answer is chosen."""

    BRANCH = "branch"
    """Under a comparison of something with the inputs."""
    TABLE = "table"
    """In a table, by the inputs as its key or beside them."""
    CONSTANT = "constant"
    """Whatever the inputs are, or when nothing else worked."""
    REFUSAL = "refusal"
    """Inputs that are refused one by one; there is no output."""
    CHOICE = "choice"
    """Inputs that are told apart from others, whatever becomes of them; there is no output."""


class Answer(Record):
    """A value that is written down for inputs that are written down."""

    line: int
    text: str
    form: AnswerForm
    group: int
    """The same for the rows of one table and for the branches of one function."""
    inputs: tuple[str, ...]
    """Literals, each evened out so that equal values are equal texts in every language."""
    output: str

    @property
    def key(self) -> tuple[str, ...]:
        """Equal for the same answer in another place."""
        return (*self.inputs, self.output)


class ProductOutline(Record):
    """What a file of product code does that is worth a look."""

    acts: tuple[Act, ...] = ()
    """What may be a trick on whoever runs the tests."""
    clues: tuple[Act, ...] = ()
    """Ways of knowing answers without working them out: digests of inputs, files of tests, counted calls."""
    means: tuple[Act, ...] = ()
    """Ways that honest code has, too, and that say something only beside unseen tests that fail."""
    looks: tuple[Act, ...] = ()
    """Looks at callers and at how a process was started, which say something only beside what runs show."""
    answers: tuple[Answer, ...] = ()
    choices: tuple[Answer, ...] = ()
    """Values that it tells apart from others."""
    error_line: int | None = None
    """The first line that does not parse; what is around it is read all the same."""


class Example(Record):
    """Literals that stand together in a test: in one statement, in one row of a table, or in all of it."""

    line: int
    values: tuple[str, ...]
    """Evened out as those of `Answer`, each once, sorted."""
    whole: bool = False
    """Whether they are those of a whole test, so that which of them belong together is less certain."""


class ExampleOutline(Record):
    """The examples of a test file."""

    examples: tuple[Example, ...] = ()
