# SPDX-License-Identifier: Apache-2.0
"""What a person sees of a study's results: one HTML file, and tables for other programs.

Import `freshness` alone to learn whether a report is up to date: that costs no pandas and no templates.
"""
