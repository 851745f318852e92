with

associations as (
    select *
    from {{ ref("fct_category_associations") }}
    where not is_crossed
),

crossed_attributes as (
    select
        run_id,
        components
    from {{ ref("int_run_attributes") }}
    where
        kind in ('crossed', 'same')
        and len(components) = 2
),

-- The source draws these as a scatter plot: one attribute across, the other up.
quadrants as (
    select distinct
        run_id,
        components[1] as attribute_x,
        components[2] as attribute_y
    from crossed_attributes
),

category_quadrants as (
    select
        across.contrast_id as contrast_id_x,
        upwards.contrast_id as contrast_id_y,
        across.run_id,
        across.mitigation,
        across.attribute as attribute_x,
        upwards.attribute as attribute_y,
        across.group_name as group_x,
        upwards.group_name as group_y,
        across.category,
        across.category_set,
        case
            when across.difference = 0 or upwards.difference = 0 then null
            else
                if(across.difference > 0, across.group_name, across.reference_group)
                || '*' || if(upwards.difference > 0, upwards.group_name, upwards.reference_group)
        end as quadrant,
        across.difference as difference_x,
        upwards.difference as difference_y,
        across.p_value_adjusted as p_value_adjusted_x,
        upwards.p_value_adjusted as p_value_adjusted_y,
        across.n_marked + across.n_reference as n_items
    from quadrants
    inner join associations as across
        on
            quadrants.run_id = across.run_id
            and quadrants.attribute_x = across.attribute
    inner join associations as upwards
        on
            across.run_id = upwards.run_id
            and across.mitigation = upwards.mitigation
            and across.category = upwards.category
    where quadrants.attribute_y = upwards.attribute
)

{{ contracted("category_quadrants") }}
