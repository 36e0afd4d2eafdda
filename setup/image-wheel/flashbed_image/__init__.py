# SPDX-License-Identifier: Apache-2.0
"""An image of guests, in image.flashbed beside this file; what is in it names its own licences and sources."""
