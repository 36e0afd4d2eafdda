# SPDX-License-Identifier: Apache-2.0
# The devices of the emulated machine: the board, the regions of memory that cells share with the host.
CONFIG_ARM_VIRT=y
CONFIG_IVSHMEM_DEVICE=y
CONFIG_ARM_GICV3_TCG=y
CONFIG_SEMIHOSTING=y
CONFIG_ARM_COMPATIBLE_SEMIHOSTING=y
CONFIG_ARM_V7M=y
