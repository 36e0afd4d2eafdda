# SPDX-License-Identifier: GPL-2.0-only
# The parts of each scheduler's core, for the kernel's build and the host's.
IOSCHED_AS := sorted sweep as as_wait
IOSCHED_CFQ := sorted sweep cfq cfq_slice cfq_idle cfq_turn
