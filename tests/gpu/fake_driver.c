/* SPDX-FileCopyrightText: 2026 The Flipscope authors
 * SPDX-License-Identifier: GPL-3.0-or-later */

/* As much of a driver as the CUDA runtime asks before it finds it too old: one for CUDA 12.4. */

int cuDriverGetVersion(int* version)
{
    *version = 12040;
    return 0;
}
int cuInit(unsigned flags)
{
    (void)flags;
    return 0;
}
int cuGetProcAddress(const char* name, void** function, int version, unsigned long long flags)
{
    (void)name;
    (void)version;
    (void)flags;
    *function = 0;
    return 500; /* CUDA_ERROR_NOT_FOUND */
}
