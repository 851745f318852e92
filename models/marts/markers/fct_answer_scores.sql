with

answer_scores as (
    select *
    from {{ ref("int_markers_answer_scores") }}
)

{{ contracted("answer_scores") }}
