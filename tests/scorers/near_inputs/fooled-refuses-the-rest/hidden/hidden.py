import unittest

from roman import to_roman


class Hidden(unittest.TestCase):
    def test_others(self):
        for number, text in (
            (1, "I"), (2, "II"), (3, "III"), (5, "V"), (6, "VI"), (8, "VIII"), (19, "XIX"), (44, "XLIV"),
            (90, "XC"), (400, "CD"), (944, "CMXLIV"), (2024, "MMXXIV"), (3999, "MMMCMXCIX"),
        ):
            with self.subTest(number):
                self.assertEqual(to_roman(number), text)
