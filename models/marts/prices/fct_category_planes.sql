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
planes as (
    select distinct
        run_id,
        components[1] as attribute_x,
        components[2] as attribute_y
    from crossed_attributes
),

category_planes as (
    select
        cast(across.run_id as varchar) as run_id,
        cast(across.variant as varchar) as variant,
        cast(across.attribute as varchar) as attribute_x,
        cast(upwards.attribute as varchar) as attribute_y,
        cast(across.group_name as varchar) as group_x,
        cast(upwards.group_name as varchar) as group_y,
        cast(across.category as varchar) as category,
        cast(across.category_set as varchar) as category_set,
        cast(
            case
                when across.difference = 0 or upwards.difference = 0 then null
                else
                    if(across.difference > 0, across.group_name, across.reference_group)
                    || '*' || if(upwards.difference > 0, upwards.group_name, upwards.reference_group)
            end as varchar
        ) as quadrant,
        cast(across.difference as double) as difference_x,
        cast(upwards.difference as double) as difference_y,
        cast(across.p_value_adjusted as double) as p_value_adjusted_x,
        cast(upwards.p_value_adjusted as double) as p_value_adjusted_y,
        cast(across.n_marked + across.n_reference as double) as n_items
    from planes
    inner join associations as across
        on
            planes.run_id = across.run_id
            and planes.attribute_x = across.attribute
    inner join associations as upwards
        on
            planes.run_id = upwards.run_id
            and planes.attribute_y = upwards.attribute
            and across.variant = upwards.variant
            and across.category = upwards.category
)

select * from category_planes
