with

attributes as (
    select distinct
        run_id,
        mitigation,
        attribute,
        is_crossed,
        '(all)' as group_name,
        '(neutral)' as reference_group
    from {{ ref("int_lists_group_values") }}
),

wordings as (
    select distinct
        run_id,
        mitigation,
        '(wording)' as attribute,
        false as is_crossed,
        wording as group_name,
        'clean' as reference_group
    from {{ ref("int_lists_repeated_values") }}
    where kind = 'wording'
),

lists_contrasts as (
    select * from attributes
    union all by name
    select * from wordings
)

select
    {{ contrast_id() }} as contrast_id,
    *
from lists_contrasts
