# SPDX-License-Identifier: Apache-2.0
"""What the commands show, where that is more than a line."""
