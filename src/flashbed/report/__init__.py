# SPDX-License-Identifier: Apache-2.0
"""Show a study's results: one HTML file for people, and tables for other programs.

Import `updating` alone to learn whether a report is up to date: that imports no pandas and no templates.
"""
