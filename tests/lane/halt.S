# A node with nothing to do: prints "halted" and halts with interrupts off, so
# that its vCPU stays in one halt for as long as the machine lives.

        .intel_syntax noprefix
        .code16
        .text
        .globl  _start
_start: ljmp    0, offset 1f
1:      cli
        xor     ax, ax
        mov     ds, ax
        mov     ss, ax
        mov     sp, 0x7c00
        cld
        call    serial_open
        mov     si, offset text_halted
        call    serial_print
rest:   hlt
        jmp     rest

text_halted:
        .asciz  "halted\r\n"

        .include "serial.inc"
