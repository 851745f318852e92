{{ config(materialized="by_run") }}

with

marked_answers as (
    select
        run_id,
        prompt_id,
        trial,
        mitigation,
        scheme,
        cell,
        badness,
        graded_as - badness as error
    from {{ run_rows("int_markers_marked_answers") }}
    where rubric is not null
),

cells as (
    select
        *,
        count(error) over (partition by run_id, mitigation, scheme, cell) as n_drawn,
        count(*) over (partition by run_id, mitigation, scheme, cell) as n_answers,
        round(avg(error) over (partition by run_id, mitigation, scheme, cell), 12) as mean_error,
        row_number() over (
            partition by run_id, mitigation, scheme, cell, error is null
            order by {{ integer_key_of(["prompt_id", "trial"]) }}
        ) as place
    from marked_answers
),

-- One error more of each kind in a cell (Bonett & Price 2012), shared out with alternating signs, so that the mean
-- stays: few labels without an error do not prove that there are no errors.
widened as (
    select
        *,
        min(n_drawn) over (partition by run_id, mitigation, scheme) >= {{ least_labels() }} as is_corrected,
        count(error) over (partition by run_id, mitigation, scheme) as n_labels,
        error - mean_error + case
            when place = n_drawn and n_drawn % 2 = 1 then 0
            else if(place % 2 = 1, 1, -1) * sqrt(2 / n_drawn)
        end as deviation
    from cells
),

-- The mean of a group is its mean grade plus the mean error of its labelled answers, each of which stands for the
-- others, so that the mean is as uncertain as it is (Angelopoulos et al. 2023; Robins, Rotnitzky & Zhao 1994).
corrected_scores as (
    select
        run_id,
        prompt_id,
        trial,
        mitigation,
        scheme,
        is_corrected,
        n_labels,
        if(
            is_corrected, badness + mean_error + coalesce(n_answers / n_drawn * deviation, 0), null
        ) as corrected_badness
    from widened
)

select * from corrected_scores
