# A node that keeps all of its vCPUs busy: prints "spinning", wakes the other
# vCPUs, each of which prints "another vCPU spinning", and loops. Interrupts are
# off and nothing is touched, so a vCPU hardly ever leaves guest mode by itself.
#
# A BIOS leaves the other vCPUs waiting. They are woken as on real hardware: the
# local APIC sends INIT, then a start-up interrupt whose vector is the page to
# start at. The APIC's registers lie far above 1 MiB, so ds takes a 4 GiB
# segment in protected mode and keeps it ("unreal mode").
#
# The loop itself runs in 64-bit user mode. That is the one mode of a boot sector
# that every KVM runs on the CPU: kvm_pvm emulates the others in the kernel, some
# 3 million instructions a second, and accounts them as system time, not as guest
# time (measured on Linux 6.18: real mode and 64-bit ring 0 leave guest time at 0).

        .intel_syntax noprefix
        .code16
        .set    APIC_ICR, 0xfee00300
        .set    AP_PAGE, 0x8000
        .set    PAGE_TABLES, 0x9000     # three pages: levels 4, 3 and 2; open to user mode
        .set    MSR_EFER, 0xc0000080
        .set    USER_STACK, 0x7000

        .text
        .globl  _start
_start: ljmp    0, offset 1f
1:      cli
        xor     ax, ax
        mov     ds, ax
        mov     es, ax
        mov     ss, ax
        mov     sp, 0x7c00
        cld
        call    serial_open
        mov     si, offset text_spinning
        call    serial_print

        mov     di, PAGE_TABLES         # the first 2 MiB, mapped to themselves
        mov     cx, 3 * 4096 / 2
        xor     ax, ax
        rep     stosw
        mov     word ptr [PAGE_TABLES], PAGE_TABLES + 0x1000 + 7
        mov     word ptr [PAGE_TABLES + 0x1000], PAGE_TABLES + 0x2000 + 7
        mov     byte ptr [PAGE_TABLES + 0x2000], 0x87

        mov     si, offset ap_entry     # a jump back to here, at the page's start
        mov     di, AP_PAGE
        mov     cl, 5                   # the length of that jump (ch is 0)
        rep     movsb

        lgdt    gdt_pointer
        mov     eax, cr0
        or      al, 1
        mov     cr0, eax
        mov     bx, data_segment - gdt
        mov     ds, bx
        and     al, 0xfe
        mov     cr0, eax

        mov     ebx, APIC_ICR
        mov     dword ptr [ebx], 0x000c4500             # INIT, to all but this one
        call    pause_10ms
        mov     dword ptr [ebx], 0x000c4600 + (AP_PAGE >> 12)
        call    pause_10ms
        mov     dword ptr [ebx], 0x000c4600 + (AP_PAGE >> 12)

spin:   lgdt    gdt_pointer
        mov     eax, cr4
        or      al, 0x20                # physical address extension
        mov     cr4, eax
        mov     eax, PAGE_TABLES
        mov     cr3, eax
        mov     ecx, MSR_EFER
        rdmsr
        or      ah, 1                   # long mode enable
        wrmsr
        mov     eax, cr0
        or      eax, 0x80000001         # paging and protection
        mov     cr0, eax
        ljmp    code_segment - gdt, offset supervisor

        .code64
supervisor:
        mov     esp, USER_STACK
        push    user_data - gdt + 3     # ss
        push    USER_STACK              # rsp; the vCPUs may share it, none uses it
        push    2                       # rflags: interrupts off
        push    user_code - gdt + 3     # cs
        mov     eax, offset user
        push    rax
        iretq
user:   jmp     user
        .code16

# About 10 ms: a write to the POST port takes at least 1 us.
pause_10ms:
        mov     cx, 10000
1:      out     0x80, al
        loop    1b
        ret

ap_entry:
        ljmp    0, offset ap_start

# The other vCPUs start here, in real mode; one at a time may print.
ap_start:
        cli
        xor     ax, ax
        mov     ds, ax
        mov     ss, ax
        cld
        mov     al, 1
1:      xchg    al, printing
        test    al, al
        jnz     1b
        mov     sp, 0x7a00
        mov     si, offset text_another
        call    serial_print
        mov     byte ptr printing, 0
        jmp     spin

printing:
        .byte   0
text_spinning:
        .asciz  "spinning\r\n"
text_another:
        .asciz  "another vCPU spinning\r\n"

        .balign 8
gdt:    .quad   0
data_segment:
        .quad   0x00cf92000000ffff      # base 0, limit 4 GiB
code_segment:
        .quad   0x00af9a000000ffff      # 64-bit
user_data:
        .quad   0x00cff2000000ffff
user_code:
        .quad   0x00affa000000ffff      # 64-bit
gdt_pointer:
        .word   . - gdt - 1
        .long   gdt

        .include "serial.inc"
