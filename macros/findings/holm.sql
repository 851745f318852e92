{#-
    Holm's step-down (1979) over the rows of `together` that are judged, the smallest p first: each p times how many are left,
    at most 1. Rows with insufficient data are a partition of their own, so `together` names is_insufficient, too.
-#}
{% macro holm_step(p_value, together) -%}
    case
        when not is_insufficient
            then least(
                1,
                {{ p_value }} * (
                    count(*) over (partition by {{ together }}) + 1
                    - row_number() over ({{ smallest_first(p_value, together) }})
                )
            )
    end
{%- endmacro %}

{#- The adjusted p of a row: its step, and no smaller than that of any row before. -#}
{% macro holm_adjusted(step, p_value, together) -%}
    max({{ step }}) over ({{ smallest_first(p_value, together) }})
{%- endmacro %}

{#- Rows by p, ties in one fixed order. -#}
{% macro smallest_first(p_value, together) -%}
    partition by {{ together }}
    order by {{ ties_in_order(p_value) }}
{%- endmacro %}

{% macro ties_in_order(p_value, of="") -%}
    {{ p_value }}
    {%- for column in ["measure", "scheme", "attribute", "group_name", "reference_group", "subject"] %}, {{ of }}{{ column }}{% endfor %}
{%- endmacro %}

{#-
    Holm's step-down over `rows` of `together` that are tested (is_tested), in which restatements wait (gatekeeping, Bretz et al.
    2009): one row a tested finding, with the columns of `together`, finding_id and p_value_adjusted. A measure that says another
    one again (`restates`) is tested once the most certain finding of that measure, of the same groups or, for a whole attribute,
    of any of them, is rejected; it then takes the place of that finding, and the place is free once all restatements are rejected.
-#}
{% macro gatekept_holm(rows, p_value, together) %}
{%- set keys = together + ["finding_id"] -%}
{%- set families = together | join(", ") -%}
    with

    judged_together_{{ p_value }} as (
        select
            {{ keys | join(", ") }},
            measure,
            scheme,
            subject,
            attribute,
            group_name,
            reference_group,
            restates,
            {{ p_value }} as p_value
        from {{ rows }}
        where is_tested
    ),

    gates_{{ p_value }} as (
        select
            {% for key in keys %}restatements.{{ key }},
            {% endfor -%}
            first(primaries.finding_id order by {{ ties_in_order("primaries.p_value", "primaries.") }}) as gate_id,
            min(primaries.p_value) as gate_p_value
        from judged_together_{{ p_value }} as restatements
        inner join judged_together_{{ p_value }} as primaries
            on
                restatements.attribute = primaries.attribute
                and restatements.subject = primaries.subject
                {%- for column in together %}
                and restatements.{{ column }} = primaries.{{ column }}
                {%- endfor %}
                and restatements.group_name in (primaries.group_name, '(all)')
                and (
                    restatements.reference_group = primaries.reference_group
                    or restatements.group_name = '(all)'
                )
                and list_contains(string_split(restatements.restates, ' '), primaries.measure)
        group by {% for key in keys %}restatements.{{ key }}{{ ", " if not loop.last }}{% endfor %}
    ),

    gate_sizes_{{ p_value }} as (
        select
            {{ families }},
            gate_id,
            count(*) as n_behind_gate
        from gates_{{ p_value }}
        group by {{ families }}, gate_id
    ),

    ordered_{{ p_value }} as (
        select
            judged_together.*,
            gates.gate_id,
            own_gate.n_behind_gate,
            opened.gate_id is not null as is_gate,
            if(
                gates.gate_id is null,
                judged_together.p_value, greatest(gates.gate_p_value, judged_together.p_value * own_gate.n_behind_gate)
            ) as ordered_p_value
        from judged_together_{{ p_value }} as judged_together
        left join gates_{{ p_value }} as gates
            on {% for key in keys %}{{ "and " if not loop.first }}judged_together.{{ key }} = gates.{{ key }} {% endfor %}
        left join gate_sizes_{{ p_value }} as own_gate
            on {% for column in together %}judged_together.{{ column }} = own_gate.{{ column }} and {% endfor %}gates.gate_id = own_gate.gate_id
        left join gate_sizes_{{ p_value }} as opened
            on {% for column in together %}judged_together.{{ column }} = opened.{{ column }} and {% endfor %}judged_together.finding_id = opened.gate_id
    ),

    places_{{ p_value }} as (
        select
            *,
            case
                when is_gate then 0
                when gate_id is null then 1
                when
                    row_number() over (
                        partition by {{ families }}, gate_id order by {{ ties_in_order("ordered_p_value") }}
                    ) = n_behind_gate
                    then 1
                else 0
            end as n_freed
        from ordered_{{ p_value }}
    ),

    steps_{{ p_value }} as (
        select
            *,
            least(
                1,
                ordered_p_value * (
                    sum(n_freed) over (partition by {{ families }})
                    - coalesce(
                        sum(n_freed) over (
                            {{ smallest_first("ordered_p_value, gate_id is not null", families) }}
                            rows between unbounded preceding and 1 preceding
                        ), 0
                    )
                )
            ) as step
        from places_{{ p_value }}
    )

    select
        {{ keys | join(", ") }},
        {{ holm_adjusted("step", "ordered_p_value, gate_id is not null", families) }} as p_value_adjusted
    from steps_{{ p_value }}
{%- endmacro %}
