"""A check that a library and what it depends on define every symbol that it uses."""

_LINK = """
set -e
if [ "{enabled}" = True ]; then
  /usr/lib/llvm-22/bin/clang -shared -fuse-ld=lld -Wl,--no-undefined -o /dev/null \\
    -Wl,--whole-archive {own} -Wl,--no-whole-archive -Wl,--start-group {others} -Wl,--end-group {flags} \\
    -L/usr/lib/llvm-22/lib -lstdc++ -lm
fi
touch {stamp}
"""

def _archives(library):
    """The archives or objects of a LibraryToLink."""
    archive = library.pic_static_library or library.static_library
    if archive:
        return [archive]
    return library.pic_objects or library.objects or []

def _link_alone_impl(ctx):
    own = []
    others = []
    flags = []
    additional = []
    for linker_input in ctx.attr.library[CcInfo].linking_context.linker_inputs.to_list():
        flags += linker_input.user_link_flags
        additional += linker_input.additional_inputs
        for library in linker_input.libraries:
            (own if linker_input.owner == ctx.attr.library.label else others).extend(_archives(library))
            if library.dynamic_library and not _archives(library):
                others.append(library.dynamic_library)
    stamp = ctx.actions.declare_file(ctx.label.name + ".stamp")
    ctx.actions.run_shell(
        outputs = [stamp],
        inputs = own + others + additional,
        command = _LINK.format(
            enabled = ctx.attr.enabled,
            own = " ".join([file.path for file in own]),
            others = " ".join([file.path for file in others]),
            flags = " ".join(flags),
            stamp = stamp.path,
        ),
        mnemonic = "LinkAlone",
        progress_message = "Linking %s alone" % ctx.attr.library.label,
    )
    return [DefaultInfo(files = depset([stamp]))]

link_alone = rule(
    implementation = _link_alone_impl,
    doc = "Links `library` as a shared object that is thrown away; fails where a symbol is undefined.",
    attrs = {
        "library": attr.label(mandatory = True, providers = [CcInfo]),
        "enabled": attr.bool(default = True, doc = "False with a sanitizer, whose runtime only programs link."),
    },
)
