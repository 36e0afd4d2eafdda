# SPDX-License-Identifier: Apache-2.0
"""From a study to stored results: what is missing is prepared, run and kept."""
