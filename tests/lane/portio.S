# A node that leaves guest mode all the time: prints "port I/O", then reads the
# serial port's status and writes to the POST port (0x80) without end. Each
# access is an exit that the kernel hands on to QEMU.

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
        mov     si, offset text_portio
        call    serial_print
        mov     dx, COM1 + 5
again:  in      al, dx
        out     0x80, al
        jmp     again

text_portio:
        .asciz  "port I/O\r\n"

        .include "serial.inc"
