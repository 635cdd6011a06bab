//! Contains the headers of xsf. tools/trim_xsf.py writes this file; do not edit it.

use super::header::Header;

pub static AGM: Header = Header::of(include_str!("../../include/xsf/integrals/agm.h"), &[&ELLPK, &DIVISION]);
pub static AIRY: Header =
    Header::of(include_str!("../../include/xsf/bessel/airy.h"), &[&CONST, &POLEVL, &MATHEMATICS, &DIVISION]);
pub static BDTR: Header =
    Header::of(include_str!("../../include/xsf/distributions/bdtr.h"), &[&INCBET, &INCBI, &MATHEMATICS, &DIVISION]);
pub static BETA: Header = Header::of(include_str!("../../include/xsf/beta/beta.h"), &[&CONST, &GAMMA, &MATHEMATICS]);
pub static BINOM: Header = Header::of(include_str!("../../include/xsf/beta/binom.h"), &[&BETA, &MATHEMATICS]);
pub static BOXCOX: Header = Header::of(include_str!("../../include/xsf/basic/boxcox.h"), &[]);
pub static CHBEVL: Header = Header::of(include_str!("../../include/xsf/basic/chbevl.h"), &[&MULTIPLY_ADD]);
pub static CHDTR: Header = Header::of(include_str!("../../include/xsf/distributions/chdtr.h"), &[&IGAM, &IGAMI]);
pub static CONST: Header = Header::of(include_str!("../../include/xsf/basic/const.h"), &[]);
pub static DIGAMMA: Header = Header::of(include_str!("../../include/xsf/gamma/digamma.h"), &[&PSI, &ZETA]);
pub static DIVISION: Header = Header::of(include_str!("../../include/xsf/basic/division.h"), &[]);
pub static ELLIE: Header = Header::of(
    include_str!("../../include/xsf/integrals/ellie.h"),
    &[&CONST, &ELLPE, &ELLPK, &UNITY, &MATHEMATICS, &DIVISION],
);
pub static ELLIK: Header =
    Header::of(include_str!("../../include/xsf/integrals/ellik.h"), &[&CONST, &ELLPK, &MATHEMATICS, &DIVISION]);
pub static ELLPE: Header = Header::of(include_str!("../../include/xsf/integrals/ellpe.h"), &[&POLEVL]);
pub static ELLPJ: Header = Header::of(include_str!("../../include/xsf/integrals/ellpj.h"), &[&CONST, &MATHEMATICS]);
pub static ELLPK: Header = Header::of(include_str!("../../include/xsf/integrals/ellpk.h"), &[&CONST, &POLEVL]);
pub static EXPINT: Header = Header::of(include_str!("../../include/xsf/integrals/expint.h"), &[&CONST, &MATHEMATICS]);
pub static EXPN: Header = Header::of(
    include_str!("../../include/xsf/integrals/expn.h"),
    &[&CONST, &POLEVL, &RGAMMA, &MATHEMATICS, &DIVISION],
);
pub static FADDEEVA: Header = Header::of(include_str!("../../include/xsf/normal/faddeeva.h"), &[&MULTIPLY_ADD]);
pub static FDTR: Header = Header::of(include_str!("../../include/xsf/distributions/fdtr.h"), &[&INCBET, &INCBI]);
pub static GAMMA: Header = Header::of(include_str!("../../include/xsf/gamma/gamma.h"), &[&MATHEMATICS]);
pub static GDTR: Header = Header::of(include_str!("../../include/xsf/distributions/gdtr.h"), &[&IGAM]);
pub static I0: Header = Header::of(include_str!("../../include/xsf/bessel/i0.h"), &[&CHBEVL]);
pub static I1: Header = Header::of(include_str!("../../include/xsf/bessel/i1.h"), &[&CHBEVL]);
pub static IGAM: Header = Header::of(
    include_str!("../../include/xsf/gamma/igam.h"),
    &[&CONST, &IGAM_ASYMP_COEFF, &LANCZOS, &UNITY, &MATHEMATICS, &DIVISION],
);
pub static IGAMI: Header =
    Header::of(include_str!("../../include/xsf/gamma/igami.h"), &[&CONST, &IGAM, &POLEVL, &MATHEMATICS, &DIVISION]);
pub static IGAM_ASYMP_COEFF: Header = Header::of(include_str!("../../include/xsf/gamma/igam_asymp_coeff.h"), &[]);
pub static INCBET: Header = Header::of(include_str!("../../include/xsf/beta/incbet.h"), &[&BETA, &CONST, &MATHEMATICS]);
pub static INCBI: Header =
    Header::of(include_str!("../../include/xsf/beta/incbi.h"), &[&CONST, &INCBET, &NDTRI, &MATHEMATICS]);
pub static J0: Header = Header::of(include_str!("../../include/xsf/bessel/j0.h"), &[&CONST, &POLEVL]);
pub static J1: Header = Header::of(include_str!("../../include/xsf/bessel/j1.h"), &[&CONST, &POLEVL]);
pub static JV: Header = Header::of(
    include_str!("../../include/xsf/bessel/jv.h"),
    &[&AIRY, &CONST, &GAMMA, &J0, &J1, &POLEVL, &RGAMMA, &MATHEMATICS, &DIVISION],
);
pub static K0: Header = Header::of(include_str!("../../include/xsf/bessel/k0.h"), &[&CHBEVL]);
pub static K1: Header = Header::of(include_str!("../../include/xsf/bessel/k1.h"), &[&CHBEVL]);
pub static KOLMOGOROV: Header =
    Header::of(include_str!("../../include/xsf/distributions/kolmogorov.h"), &[&MATHEMATICS]);
pub static LANCZOS: Header = Header::of(include_str!("../../include/xsf/gamma/lanczos.h"), &[&POLEVL]);
pub static MATHEMATICS: Header = Header::of(include_str!("../../include/xsf/basic/mathematics.h"), &[]);
pub static MULTIPLY_ADD: Header = Header::of(include_str!("../../include/xsf/basic/multiply_add.h"), &[]);
pub static NBDTR: Header = Header::of(include_str!("../../include/xsf/distributions/nbdtr.h"), &[&INCBET, &INCBI]);
pub static NDTRI: Header = Header::of(include_str!("../../include/xsf/normal/ndtri.h"), &[&CONST, &POLEVL]);
pub static NDTRI_EXP: Header = Header::of(include_str!("../../include/xsf/normal/ndtri_exp.h"), &[&NDTRI, &POLEVL]);
pub static PDTR: Header = Header::of(include_str!("../../include/xsf/distributions/pdtr.h"), &[&IGAM, &IGAMI]);
pub static POCH: Header =
    Header::of(include_str!("../../include/xsf/gamma/poch.h"), &[&GAMMA, &MATHEMATICS, &DIVISION]);
pub static POLEVL: Header =
    Header::of(include_str!("../../include/xsf/basic/polevl.h"), &[&MATHEMATICS, &MULTIPLY_ADD]);
pub static PSI: Header = Header::of(include_str!("../../include/xsf/gamma/psi.h"), &[&CONST, &POLEVL, &DIVISION]);
pub static RGAMMA: Header = Header::of(include_str!("../../include/xsf/gamma/rgamma.h"), &[&CHBEVL, &MATHEMATICS]);
pub static SCIPY_IV: Header =
    Header::of(include_str!("../../include/xsf/bessel/scipy_iv.h"), &[&CONST, &RGAMMA, &MATHEMATICS, &DIVISION]);
pub static SHICHI: Header =
    Header::of(include_str!("../../include/xsf/integrals/shichi.h"), &[&CHBEVL, &CONST, &MATHEMATICS, &DIVISION]);
pub static SICI: Header =
    Header::of(include_str!("../../include/xsf/integrals/sici.h"), &[&CONST, &POLEVL, &MATHEMATICS, &DIVISION]);
pub static SINDG: Header = Header::of(include_str!("../../include/xsf/basic/sindg.h"), &[&CONST, &POLEVL]);
pub static SPECFUN: Header = Header::of(include_str!("../../include/xsf/integrals/specfun.h"), &[&DIVISION]);
pub static SPENCE: Header = Header::of(include_str!("../../include/xsf/integrals/spence.h"), &[&POLEVL, &MATHEMATICS]);
pub static TANDG: Header = Header::of(include_str!("../../include/xsf/basic/tandg.h"), &[&CONST]);
pub static UNITY: Header =
    Header::of(include_str!("../../include/xsf/gamma/unity.h"), &[&CONST, &POLEVL, &MATHEMATICS, &DIVISION]);
pub static WRIGHT_BESSEL: Header = Header::of(
    include_str!("../../include/xsf/integrals/wright_bessel.h"),
    &[&LANCZOS, &POLEVL, &RGAMMA, &ZETA, &DIGAMMA, &MATHEMATICS, &DIVISION],
);
pub static YN: Header = Header::of(include_str!("../../include/xsf/bessel/yn.h"), &[&J0, &J1, &DIVISION]);
pub static YV: Header = Header::of(include_str!("../../include/xsf/bessel/yv.h"), &[&JV, &YN, &MATHEMATICS, &DIVISION]);
pub static ZETA: Header = Header::of(include_str!("../../include/xsf/gamma/zeta.h"), &[&CONST, &MATHEMATICS]);
pub static ZETAC: Header = Header::of(
    include_str!("../../include/xsf/gamma/zetac.h"),
    &[&CONST, &LANCZOS, &POLEVL, &ZETA, &MATHEMATICS, &DIVISION],
);
