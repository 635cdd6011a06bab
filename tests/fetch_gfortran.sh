#!/bin/sh
# Installs gfortran into `bin` of the folder named by the argument, if the machine has none. The compiler comes from a
# package of Debian or a derived distribution. It has the version of the machine's gcc, whose linker and libraries it
# uses.
# shellcheck source=tests/unpack_debian_packages.sh
. "$(dirname "$0")/unpack_debian_packages.sh"
rm -rf "$folder/bin"
if command -v gfortran > /dev/null; then
    # Keep no package: if the machine's gfortran is removed later, the next run of this script fetches one.
    rm -rf "$folder/packages"
    exit 0
fi
command -v gcc > /dev/null || give_up "there is no gcc, with which gfortran would link"
version=$(gcc -dumpversion)
version=${version%%.*}
unpack "gfortran-$version"

compiler=$(cd "$folder/root" && find usr/bin -name "*gfortran-$version" -type f | head -1)
parts=$(cd "$folder/root" && find usr -name f951 -exec dirname {} \; | head -1)
libraries=$(cd "$folder/root" && find usr -name 'libgfortran.so.*' -exec dirname {} \; | sort -u | head -1)
[ -n "$compiler" ] && [ -n "$parts" ] && [ -n "$libraries" ] \
    || give_up "gfortran-$version is packed in a way unknown here"
mkdir "$folder/bin"
# The script finds the compiler relative to its own path, so the folder may be copied. LD_LIBRARY_PATH is for the
# compiler itself, which needs the unpacked libraries too.
cat > "$folder/bin/gfortran" << END
#!/bin/sh
root=\$(cd "\$(dirname "\$0")/../root" && pwd)
export LD_LIBRARY_PATH="\$root/$libraries\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}"
system=\$(dirname "\$(gcc -print-libgcc-file-name)")
exec "\$root/$compiler" -B"\$root/$parts/" -B"\$system/" "\$@" -Wl,-rpath,"\$root/$libraries"
END
chmod +x "$folder/bin/gfortran"

# Check that the compiler works on this machine: compile and run a program.
cd "$folder" || give_up "$folder cannot be entered"
echo 'print *, "works"; end' > works.f90
bin/gfortran works.f90 -o works > log 2>&1 && ./works >> log 2>&1 || {
    rm -rf bin
    give_up "gfortran-$version was unpacked but does not work here: $(tail -1 log)"
}
rm -f works works.f90
touch "$folder/.ready"
