"""Tests of the rule by which all studies of examples/studies judge claims.

The intervals are those that binom.test of R prints, to six digits.
"""
import os
import re
import sys
import unittest

STUDIES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../examples/studies")
sys.path.insert(0, STUDIES)
sys.dont_write_bytecode = True
import study  # noqa: E402

INTERVALS = {(9, 10): (0.554984, 0.997471), (6, 6): (0.540742, 1), (0, 10): (0, 0.308497),
             (3, 10): (0.066740, 0.652453), (18, 20): (0.683017, 0.987651), (1, 1): (0.025, 1)}
VERDICTS = {(6, 6): "holds", (9, 10): "holds", (15, 20): "holds", (5, 20): "does not",
            (0, 6): "does not", (1, 10): "does not", (8, 10): "undecided", (5, 6): "undecided",
            (14, 20): "undecided", (5, 10): "undecided"}


class Verdicts(unittest.TestCase):
    def test_the_interval_of_a_share_is_exact(self):
        for counts, expected in INTERVALS.items():
            for found, end in zip(study.exact_interval(*counts), expected):
                self.assertAlmostEqual(found, end, places=6, msg=counts)

    def test_a_share_is_compared_with_one_half(self):
        for counts, expected in VERDICTS.items():
            self.assertEqual(study.verdict_of_share(*counts), expected, counts)

    def test_fewer_than_six_seeds_decide_nothing(self):
        for seeds in range(1, 6):
            for count in range(seeds + 1):
                self.assertEqual(study.verdict_of_share(count, seeds), "undecided")
            self.assertEqual(study.verdict_of_mean([0.1 * i for i in range(seeds)], 9), "undecided")

    def test_a_mean_is_compared_with_the_number_of_the_paper(self):
        values = [0.28, 0.30, 0.32, 0.29, 0.31, 0.30]  # 0.30 ± 0.0148
        for least, expected in {0.28: "holds", 0.29: "undecided", 0.31: "undecided",
                                0.32: "does not"}.items():
            self.assertEqual(study.verdict_of_mean(values, least), expected, least)


class Studies(unittest.TestCase):
    def test_every_study_takes_enough_seeds_and_states_its_time(self):
        names = [name for name in sorted(os.listdir(STUDIES))
                 if name.endswith(".py") and name != "study.py"]
        self.assertGreater(len(names), 5)
        for name in names:
            with open(os.path.join(STUDIES, name), encoding="utf-8") as file:
                text = file.read()
            made = re.search(r"Study\(([^)]*)\)", text).group(1)
            self.assertGreaterEqual(int(re.search(r"[^_]seeds=(\d+)", made).group(1)), 6, name)
            self.assertRegex(made, r"minutes=\d+", name)


if __name__ == "__main__":
    unittest.main()
