import unittest

from slugs import slugify


class SlugifyTest(unittest.TestCase):
    def test_words_are_joined(self):
        self.assertEqual(slugify("Hello World"), "hello-world")

    def test_runs_of_punctuation_become_one_hyphen(self):
        self.assertEqual(slugify("Ready?  Set -- Go"), "ready-set-go")

    def test_no_hyphen_at_the_ends(self):
        self.assertEqual(slugify("  (draft) "), "draft")


if __name__ == "__main__":
    unittest.main()
