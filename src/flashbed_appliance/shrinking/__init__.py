# SPDX-License-Identifier: Apache-2.0
"""Kernels that contain only what one purpose needs, built from fragments with reasons and measured option by option.

Knows Kconfig, sizes and prices; must not know what an appliance is, nor what a study's cell runs.
"""
