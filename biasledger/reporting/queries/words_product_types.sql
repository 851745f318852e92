-- Product types, the keys of JSON answers, of each contrast: those marked, then those of largest |z|; at most twelve.
with

answers as (
    select
        attribute,
        group_name,
        n_ok
    from marts.fct_answer_quality
    where
        run_id = $run_id
        and mitigation = 'plain'
        and n_ok > 0
)

select
    product_types.attribute,
    product_types.group_name,
    product_types.reference_group,
    findings.finding_id,
    product_types.word as product_type,
    100 * product_types.n_group_answers_using / of_group.n_ok as answers_per_100,
    100 * product_types.n_reference_answers_using / of_reference.n_ok as reference_answers_per_100,
    answers_per_100 - reference_answers_per_100 as difference,
    product_types.z_score,
    product_types.p_value_adjusted,
    product_types.is_marked
from marts.fct_marked_words as product_types
inner join answers as of_group
    on product_types.attribute = of_group.attribute and product_types.group_name = of_group.group_name
inner join answers as of_reference
    on product_types.attribute = of_reference.attribute and product_types.reference_group = of_reference.group_name
left join marts.fct_findings as findings
    on
        product_types.contrast_id = findings.contrast_id
        and product_types.scheme = findings.scheme
        and findings.measure = 'marked_words'
where
    product_types.run_id = $run_id
    and product_types.mitigation = 'plain'
    and product_types.scheme = 'keys'
qualify
    row_number() over (
        partition by product_types.contrast_id
        order by product_types.is_marked desc, abs(product_types.z_score) desc, product_types.word
    ) <= 12
order by
    product_types.attribute like '%*%', product_types.attribute,
    max(product_types.is_marked) over (partition by product_types.contrast_id) desc, product_types.group_name,
    product_types.reference_group, difference desc, product_types.word
