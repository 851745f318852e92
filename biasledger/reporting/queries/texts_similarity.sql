-- How alike answers are that differ in the group alone, and how alike different answers about one group are.
with

judged as (
    select
        contrast_id,
        finding_id,
        scheme,
        status,
        threshold
    from marts.fct_findings
    where measure = 'similarity_gap'
)

select
    similarity.attribute,
    similarity.group_name,
    similarity.reference_group,
    similarity.scheme,
    judged.finding_id,
    judged.status,
    similarity.similarity_gap,
    similarity.interval_low,
    similarity.interval_high,
    judged.threshold,
    similarity.similarity_between,
    similarity.similarity_within,
    similarity.p_value,
    similarity.n_questions
from marts.fct_text_similarity as similarity
left join judged using (contrast_id, scheme)
where
    similarity.run_id = $run_id
    and similarity.mitigation = 'plain'
order by
    similarity.is_crossed, similarity.attribute, similarity.is_judged desc, similarity.scheme,
    similarity.similarity_gap desc, similarity.group_name
