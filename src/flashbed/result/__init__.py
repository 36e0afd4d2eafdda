# SPDX-License-Identifier: Apache-2.0
"""The result of a repetition: its type, its evaluation from the guest's files, the store, and the columns of tables."""
