-- Association scores of every category by two attributes at once.
select
    category_set,
    attribute_x,
    attribute_y,
    group_x,
    group_y,
    category,
    quadrant,
    difference_x,
    difference_y,
    p_value_adjusted_x,
    p_value_adjusted_y,
    n_items
from marts.fct_category_quadrants
where
    run_id = $run_id
    and mitigation = 'plain'
order by
    category_set nulls first, attribute_x, attribute_y, group_x, group_y,
    least(p_value_adjusted_x, p_value_adjusted_y), abs(difference_x) + abs(difference_y) desc, category
