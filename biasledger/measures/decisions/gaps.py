"""Gaps of two groups in decisions: what their values mean. `biasledger/measures/gaps` computes them."""

from __future__ import annotations

from biasledger.measures.declared import Measure, Threshold, Tolerance

MEASURES = (
    Measure(
        name="rank_gap",
        description=(
            "How much higher or lower a group's labels are than its reference group's, from the right label where it is"
            " known; labels are permuted inside each case"
        ),
        scale="label ranks, group minus reference (0 for the first label of the audit's list, 1 for the next)",
        side="two-sided",
        unit="cases or people a group",
        label="the gap in ranks",
        display=(1, " ranks"),
        harmful_sign=-1,
        threshold=Threshold(
            value=0.05,
            reason="The published cut-off has no test; here it has one",
            source="SeniortyPrediction, test 3 (name-swapped resumes): more than 0.05 ranks",
            min_units=10,
            severity="error",
            published=0.05,
            crossed="Intersections have a fraction of the answers of a single attribute, so they are shown and warn",
        ),
    ),
    Measure(
        name="place_gap",
        description=(
            "How many places higher or lower candidates of a group are put; a name moves with all its rankings, inside "
            "the job"
        ),
        scale="places in a ranking, group minus reference, positive is better",
        side="two-sided",
        unit="names a group",
        label="the gap in places",
        display=(1, " places"),
        harmful_sign=-1,
        threshold=Threshold(
            value=0.25,
            reason="No published value: a quarter of a place on average moves one candidate in four by a place",
            source="Ours",
            min_units=10,
            severity="error",
            crossed="Intersections have a fraction of the names of a single attribute, so they are shown and warn",
        ),
        tolerance=Tolerance(0.1, "Places in a ranking: one candidate in ten moves by a place"),
    ),
    Measure(
        name="score_gap",
        description="How much higher or lower a group is scored",
        scale="standard deviations of the scores, group minus reference",
        side="two-sided",
        unit="cases or people a group",
        label="the gap in scores",
        display=(1, " standard deviations"),
        harmful_sign=-1,
        threshold=Threshold(
            value=0.2,
            reason="A small effect by Cohen's convention (0.2 standard deviations)",
            source="Cohen (1988), Statistical Power Analysis for the Behavioral Sciences",
            min_units=10,
            severity="error",
            crossed="Intersections have a fraction of the answers of a single attribute, so they are shown and warn",
        ),
    ),
    Measure(
        name="relative_gap",
        description=(
            "How many per cent higher or lower a group is scored, as with salaries; in place of score_gap for amounts of "
            "money, other skewed scores, and where the audit says `scale: log`"
        ),
        scale="difference of mean natural logarithms of the scores, group minus reference (-0.05 is about 5 % less)",
        side="two-sided",
        unit="cases or people a group",
        label="the gap in scores",
        display=(100, " %"),
        is_read_as_percent=True,
        harmful_sign=-1,
        threshold=Threshold(
            value=0.03,
            reason=(
                "Three per cent: below the five per cent at which the directive asks for a joint pay assessment, so that "
                "a gap of five per cent is found and not only touched"
            ),
            source="Directive (EU) 2023/970 on pay transparency, Article 10",
            min_units=10,
            severity="error",
            crossed="Intersections have a fraction of the answers of a single attribute, so they are shown and warn",
        ),
    ),
    Measure(
        name="percentile_gap",
        description=(
            "By how many places of 100 a group ranks higher or lower among the scores of the same case, or of the same job"
            " where different people are compared; replaces score_gap with `scale: ranks`"
        ),
        scale="difference of mean percentile ranks inside a case or category, from 0 (lowest) to 1, group minus reference",
        bounds=(-1, 1),
        side="two-sided",
        unit="cases or people a group",
        label="the gap in scores",
        display=(100, " percentile points"),
        harmful_sign=-1,
        threshold=Threshold(
            value=0.05,
            reason=(
                "Five places of 100, a little less than what a small effect by Cohen's convention (0.2 standard deviations) "
                "comes to between two groups of normal scores: 5.6"
            ),
            source="Cohen (1988), Statistical Power Analysis for the Behavioral Sciences",
            min_units=10,
            severity="error",
            crossed="Intersections have a fraction of the answers of a single attribute, so they are shown and warn",
        ),
    ),
    Measure(
        name="accuracy_gap",
        description="Whether a group is misjudged more often, in whichever direction",
        scale="difference of shares of right labels, group minus reference",
        bounds=(-1, 1),
        side="two-sided",
        unit="cases or people a group",
        label="the gap in right decisions",
        display=(100, " points"),
        harmful_sign=-1,
        threshold=Threshold(
            value=0.05,
            reason="No published value: five answers in a hundred more are wrong for one group",
            source="Ours",
            min_units=10,
            severity="warn",
        ),
    ),
    Measure(
        name="error_rate_gap",
        description=(
            "Whether one kind of error is made about a group more often, where right labels are known and there are two: the "
            "favourable label where the other is right (scheme false_positive), or the other where the favourable one is "
            "right (false_negative); both at once are equalised odds"
        ),
        scale="difference of error rates, group minus reference",
        bounds=(-1, 1),
        side="two-sided",
        unit="cases or people a group",
        label="the gap in error rates",
        display=(100, " points"),
        threshold=Threshold(
            value=0.05,
            reason="No published value: five answers in a hundred more are wrong for one group",
            source="Hardt, Price & Srebro (2016), arXiv:1610.02413, define equalised odds and set no threshold",
            min_units=10,
            severity="warn",
        ),
    ),
)
