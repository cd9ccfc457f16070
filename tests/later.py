"""What is left to ``make later``: cases that take seconds, of laws that other cases of the test, or a floor below, state daily.

The daily run keeps one case of each law: in memory and on DuckDB, on SQLite, and on Spark and PostgreSQL where integers are
compared, where locks decide, and in twenty random campaigns. Patterns are those of fnmatch, over the test's name with its case.
"""

from fnmatch import fnmatchcase

LATER = {
    "test_apart": ["*interval_is_the_plans[[]5]"],
    "test_benefits_without_end": ["test_no_design*"],
    "test_cautions": ["*are_said_by_their_name[[]duckdb-named1]"],
    "test_cli": ["test_designs_keep_their_names_and_numbers_on_a_narrow_terminal"],
    "test_cli_campaign": ["*[[]ledger-duckdb]", "test_the_survey_of_affairs_is_planned_released_and_reported"],
    "test_cli_mistakes": [
        "test_a_total_stated_from_the_start*duckdb]",
        "test_a_forgotten_option*duckdb]",
        "test_a_second_question*duckdb]",
    ],
    "test_cli_true_words": ["*[[]budgets]", "test_a_plan_that_forgot_the_ledger*duckdb]"],
    "test_cli_words": ["*those_who_joined[[]*-duckdb]"],
    "test_column_names": [
        "test_spark_takes_no_name_for_ours_either",
        "*as_they_like[[][24]0]",
        "*taken_for_ours[[]parquet-False]",
        "*taken_for_ours[[]in_a_table-True]",
    ],
    "test_compare": ["test_both_pictures*[[]dark-*]"],
    "test_decimals": [
        "test_a_written_cost*duckdb]",
        "test_what_lies_far_below_nothing*[[]cells[123]]",
        "*spark-local*",
    ],
    "test_demo": ["test_the_demo_starts_afresh_and_leaves_what_others_put_there"],
    "test_differential": ["test_columns_without*spark*", "test_nan_written*spark*"],
    "test_docs": ["*docs/how-to/real-data.md]", "*docs/how-to/simulate.md]"],
    "test_engine_files": ["test_neither_plan_nor_announcement_nor_release_takes_it*words in one part]"],
    "test_engine_ledger": [
        "test_a_second_round*",
        "test_totals_in_a_column*postgresql*",
        "test_what_was*postgresql*",
        "test_those_who*postgresql*",
        "test_other_people*postgresql*",
        "test_someone*postgresql*",
    ],
    "test_engine_release": [
        "test_people_who_weigh_costs*spark*",
        "test_a_release_takes_two_queries*spark*",
        "test_a_missing_value*spark*",
        "test_grains*spark*",
    ],
    "test_engines": ["*takes_the_call*spark]", "*costs*spark*", "test_ids_that_are*spark*", "*scans*spark*"],
    "test_faults": [
        "test_a_full_disk*postgresql*",
        "test_a_kill_at_random*postgresql*",
        "test_a_kill_at_a_named*postgresql*",
        "test_two_processes_releasing*postgresql*",
    ],
    "test_figures": ["test_every_picture_is_drawn*dark*"],
    "test_file_names": [
        "*leading_dash*spark-local]",
        "*file_that_bears_it[[]spark-local-csv]",
        "*name_of_a_folder*spark*",
        "*never_replaces*spark*",
    ],
    "test_files_as_they_come": [
        "test_how_a_table_was_read*duckdb]",
        "test_a_text_that_is_said*duckdb]",
        "*reads_what_others_read[[]a workbook]",
        "test_duckdb_reads_every_form*[[]UTF*",
        "test_duckdb_reads_every_form*[[]gzip*",
        "test_duckdb_reads_every_form*[[]zstd*",
        "test_duckdb_reads_every_form*[[]JSON*",
        "test_duckdb_reads_every_form*[[]REDCap*",
        "test_duckdb_reads_every_form*[[]semicolons,*",
        "test_duckdb_reads_every_form*[[]commas,*",
        "test_duckdb_reads_every_form*[[]tabs*",
        "test_duckdb_reads_every_form*[[]pipes*",
        "test_duckdb_reads_every_form*[[]a *",
        "test_duckdb_reads_every_form*[[]one *",
        "test_duckdb_reads_every_form*[[]LimeSurvey*",
        "test_spark_reads_what_others_read*",
        "test_a_campaign_goes_through*duckdb]",
        "test_answers_that_r_wrote*duckdb]",
    ],
    "test_gallery": ["*computes[[]large-gains]", "*computes[[]groups]", "*computes[[]any-mechanism]"],
    "test_given_columns": ["*duckdb*"],
    "test_group_faults": ["*duckdb]"],
    "test_group_report": ["test_a_group_without*", "test_more_groups*", "test_a_report_is_written*"],
    "test_groups_across_cli": ["*duckdb]"],
    "test_groups_absent": ["*spark*"],
    "test_groups_cli": ["test_a_campaign_of_groups*duckdb]"],
    "test_groups_engines": [
        "test_people_who_weigh_costs*spark*",
        "test_duckdb_has_the_plans_and_the_integers_of_memory",
        "*certificates*spark*",
        "test_a_thousand_groups*",
    ],
    "test_ledger_machine": ["*postgresql*"],
    "test_ledger_packs": ["*postgresql*"],
    "test_ledger_packs_changed": ["*postgresql*"],
    "test_many_names": ["*postgresql*"],
    "test_one_home": ["test_kappa_hides_nowhere_as_a_literal"],
    "test_one_read": ["*postgresql*"],
    "test_passes": ["*[[]10-spark-local]", "*[[]1-spark-local]"],
    "test_sheet_cli": ["*the_one_that_is_named[[]duckdb-*]", "test_a_report_of_a_sheet_is_drawn[[]duckdb]", "*duckdb]"],
    "test_sheet_engines": [
        "*in_csv*spark*",
        "*is_one_query*spark*",
        "*any_kind*spark*",
        "*never_repeated*spark*",
        "*what_counts*spark*",
    ],
    "test_sheet_ledger": ["test_verify_finds[[]postgresql*", "test_a_receipt_changed*postgresql*"],
    "test_sheet_simulation": ["test_every_figure_of_every_question_is_there", "test_every_interval_holds*"],
    "test_version_1": ["*carries_on*postgresql*"],
    "test_web_administrator": ["*postgresql*"],
    "test_web_budgets": ["*postgresql*"],
    "test_web_drawn_results": ["*postgresql*"],
    "test_web_entrance": ["test_a_class*postgresql*"],
    "test_web_languages": ["test_longer_languages*"],
    "test_web_life": ["test_a_campaign_runs*postgresql*", "test_cancelling*postgresql*", "test_a_job_that*postgresql*"],
    "test_web_load": ["*postgresql*", "test_joins*"],
    "test_web_lost_key": ["*postgresql*"],
    "test_web_operating": ["*postgresql*"],
    "test_web_pages": ["test_a_campaign_lives*", "test_the_quieter_pages*", "*without_scripts", "*but_a_keyboard"],
    "test_web_retention": ["*postgresql*"],
    "test_web_secrets": ["*postgresql*"],
    "test_web_steady": ["test_processes_that_are_ended*", "test_what_a_killed_process*"],
    "test_web_visit_again": ["*postgresql*"],
}


def is_for_later(file, name):
    """Tell whether a case is left to the long run.

    >>> is_for_later("test_web_budgets", "test_all[postgresql]"), is_for_later("test_web_budgets", "test_all[sqlite]")
    (True, False)
    """
    return any(fnmatchcase(name, pattern) for pattern in LATER.get(file, ()))


def never_matching(cases):
    """List the patterns that fit none of the cases, given as file and name: they would hide nothing, and say that they do."""
    names = {}
    for file, name in cases:
        names.setdefault(file, []).append(name)
    return [
        f"{file}: {pattern}"
        for file, patterns in LATER.items()
        for pattern in patterns
        if not any(fnmatchcase(name, pattern) for name in names.get(file, ()))
    ]
