# SPDX-License-Identifier: Apache-2.0
"""Find and read the parts of a study: boards, media, file systems, translation layers and schedulers."""
