-- Association scores of every category by two attributes at once: all categories, and those of each set of the audit.
with

quadrants as (
    select
        *,
        unnest(list_prepend('', coalesce(string_split(category_set, ', '), []))) as shown_set
    from marts.fct_category_quadrants
    where
        run_id = $run_id
        and mitigation = 'plain'
)

select
    quadrants.shown_set as category_set,
    quadrants.attribute_x,
    quadrants.attribute_y,
    across.reference_group as reference_x,
    quadrants.group_x,
    upwards.reference_group as reference_y,
    quadrants.group_y,
    findings.finding_id,
    quadrants.category,
    quadrants.quadrant,
    quadrants.difference_x,
    quadrants.difference_y,
    quadrants.p_value_adjusted_x,
    quadrants.p_value_adjusted_y,
    quadrants.n_items,
    runs.noun_items
from quadrants
inner join marts.dim_runs as runs on quadrants.run_id = runs.run_id
inner join marts.dim_contrasts as across on quadrants.contrast_id_x = across.contrast_id
inner join marts.dim_contrasts as upwards on quadrants.contrast_id_y = upwards.contrast_id
-- A category leads to the finding of the groups that it is more surely associated with.
left join marts.fct_findings as findings
    on
        findings.measure = 'category_association'
        and findings.contrast_id = if(
            quadrants.p_value_adjusted_y < quadrants.p_value_adjusted_x, upwards.contrast_id, across.contrast_id
        )
-- A set as a whole is no point among its own categories.
where quadrants.shown_set = '' or quadrants.category not like '(%'
order by
    quadrants.attribute_x, quadrants.attribute_y, quadrants.group_x, quadrants.group_y, quadrants.shown_set,
    least(quadrants.p_value_adjusted_x, quadrants.p_value_adjusted_y),
    abs(quadrants.difference_x) + abs(quadrants.difference_y) desc, quadrants.category
