# A node that joins after a settable time: waits, prints "joined", halts.
#
# The time is the little-endian word at offset 4 of the sector, in seconds (1 to
# 3599). It is patched into the image, without assembling again:
#     printf '\024\000' | dd of=disk.img bs=1 seek=4 conv=notrunc     # 20 s
# It is counted in the BIOS's timer ticks (18.2 a second), so a guest that gets
# no CPU joins late, as a real node does. Between the ticks the vCPU is halted.

        .intel_syntax noprefix
        .code16
        .text
        .globl  _start
_start: jmp     begin

        .org    4
seconds:
        .word   5

begin:  ljmp    0, offset 1f            # some BIOSes start at 07c0:0000
1:      xor     ax, ax
        mov     ds, ax
        mov     es, ax
        mov     ss, ax
        mov     sp, 0x7c00
        cld
        call    serial_open
        mov     si, offset text_waiting
        call    serial_print

        mov     ax, seconds             # ticks = seconds * 182 / 10
        mov     cx, 182
        mul     cx
        mov     cx, 10
        div     cx
        mov     cx, ax                  # cx: the ticks still to come
        mov     bx, [0x46c]             # bx: the BIOS's tick count last seen
        sti
wait:   hlt
        mov     ax, [0x46c]
        mov     dx, ax
        sub     dx, bx                  # dx: ticks gone by since then
        jz      wait
        mov     bx, ax
        cmp     dx, 0x100               # the count starts again at midnight
        jb      1f
        mov     dx, 1
1:      sub     cx, dx
        ja      wait

        mov     si, offset text_joined
        call    serial_print
rest:   hlt
        jmp     rest

text_waiting:
        .asciz  "waiting to join\r\n"
text_joined:
        .asciz  "joined\r\n"

        .include "serial.inc"
