# SPDX-License-Identifier: Apache-2.0
"""Two sets of results, cell by cell: what is the same, what is not, where that begins, and whether chance would do it.

Reads what reports export; must not know how anything is measured, nor where it is kept.
"""
