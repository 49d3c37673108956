use crate::{Document, ast};
use expect_test::{Expect, expect};

fn check(text: &str, expected: Expect) {
    let document = Document::new(text);
    let mut shown = String::new();
    for block in document.blocks() {
        let (ast, _) = ast::parse(&block.source);
        for (_, stmt) in ast.stmts() {
            shown += &format!("{stmt:?}\n");
        }
    }
    expected.assert_eq(&shown);
}

#[test]
fn assignments_and_annotations() {
    check(
        "x: pl.Tile[[64, N], pl.FP32] = y\na = b = 0x10\nc, d = e\nf[0:2, 1] = g\n",
        expect![[r#"
            Assign { targets: [ExprId(0)], annotation: Some(ExprId(9)), value: Some(ExprId(10)) }
            Assign { targets: [ExprId(11), ExprId(12)], annotation: None, value: Some(ExprId(13)) }
            Assign { targets: [ExprId(16)], annotation: None, value: Some(ExprId(17)) }
            Assign { targets: [ExprId(24)], annotation: None, value: Some(ExprId(25)) }
        "#]],
    );
}

#[test]
fn the_ids_of_a_scope_do_not_depend_on_what_stands_elsewhere() {
    let scope = "    for i in pl.spmd(4):\n        y = pl.exp(x)\n";
    let loops = "    for i in pl.range(4):\n        with pl.at(level=1):\n            z = pl.exp(x)\n";
    let last = |more: &str| {
        let text = format!("def f(x):\n{scope}{more}    w = x\n{loops}{scope}");
        let (ast, _) = ast::parse(&Document::new(&text).blocks()[0].source);
        let named = |name: &str| ast.exprs().filter(|(id, _)| ast.name(*id) == Some(name)).last().map(|(id, _)| id);
        (named("z"), named("y"))
    };
    assert_eq!(last(""), last("        more = pl.exp(x)\n"));
    assert_eq!(last(""), last("        for j in pl.range(4):\n            more = pl.exp(x)\n"));
}

#[test]
fn deep_nesting_is_cut_off() {
    let deep = format!("x = {}1{}\n", "(-".repeat(20_000), ")".repeat(20_000));
    let document = Document::new(&deep);
    let (ast, _) = ast::parse(&document.blocks()[0].source);
    assert_eq!(ast.body.len(), 1);
    let deep: String = (0..2_000).map(|n| format!("{}if x:\n", " ".repeat(n))).collect();
    ast::parse(&Document::new(&deep).blocks()[0].source);
}

#[test]
fn a_long_chain_of_branches_is_no_deeper_than_anything_else() {
    let chain = |count: usize| {
        let more: String = (0..count).map(|i| format!("elif x == {i}:\n    y{i} = 1\n")).collect();
        let document = Document::new(&format!("if x:\n    pass\n{more}else:\n    z = 1\n"));
        let (ast, _) = ast::parse(&document.blocks()[0].source);
        let (mut depth, mut at) = (0, ast.body[0]);
        while let ast::Stmt::If { or_else, .. } = ast.stmt(at) {
            (depth, at) = (depth + 1, or_else[0]);
        }
        let assigned = ast.stmts().filter(|(_, stmt)| matches!(stmt, ast::Stmt::Assign { .. })).count();
        (depth, matches!(ast.stmt(at), ast::Stmt::Other { keyword: "elif", .. }), assigned)
    };
    assert_eq!(chain(3), (4, false, 4));
    assert_eq!(chain(150), (151, false, 151));
    assert_eq!(chain(151), (151, true, 152));
    assert_eq!(chain(2000), (151, true, 2001));
}

#[test]
fn an_indented_method_parses_like_a_function() {
    check(
        "class P:\n    @pl.function(type=pl.FunctionType.InCore)\n    def k(self, *, a: pl.Tensor[[64], pl.FP32], n=1) -> tuple[A, B]:\n        with pl.at(level=1) as t:\n            return a\n",
        expect![[r#"
            Class { decorators: [], name: ExprId(0), bases: [], body: [] }
            Return(Some(ExprId(65541)))
            With { items: [WithItem { context: ExprId(65539), target: Some(ExprId(65540)) }], body: [StmtId(65536)] }
            Function(Function { decorators: [ExprId(5)], name: ExprId(6), params: [Param { name: ExprId(7), annotation: None, default: None, kind: Plain }, Param { name: ExprId(8), annotation: Some(ExprId(16)), default: None, kind: KeywordOnly }, Param { name: ExprId(17), annotation: None, default: Some(ExprId(18)), kind: KeywordOnly }], returns: Some(ExprId(23)), body: [StmtId(65537)] })
        "#]],
    );
}

#[test]
fn a_broken_line_hides_no_other() {
    let document = Document::new("def k(a):\n    x = pl.load(a, [0, 0], [64,\n    y = pl.exp(x)\n    return y\n");
    let (ast, _) = ast::parse(&document.blocks()[0].source);
    assert!(ast.stmts().any(|(_, stmt)| matches!(stmt, ast::Stmt::Return(_))), "{ast:#?}");
}

#[test]
fn what_does_not_parse_in_an_expression_is_a_statement_in_front() {
    check(
        "def k(a 1):\n    x = a + 0p\n    for i in a 2:\n        b(1v4)\n",
        expect![[r#"
            Error
            Assign { targets: [ExprId(2)], annotation: None, value: Some(ExprId(5)) }
            Expr(ExprId(65541))
            Error
            For { target: ExprId(65536), iter: ExprId(65537), body: [StmtId(65536)], or_else: [] }
            Error
            Function(Function { decorators: [], name: ExprId(0), params: [Param { name: ExprId(1), annotation: None, default: None, kind: Plain }], returns: None, body: [StmtId(131072), StmtId(0), StmtId(1), StmtId(65537), StmtId(65538)] })
        "#]],
    );
}

#[test]
fn the_names_of_a_lambda_are_its_own() {
    let document = Document::new("f = lambda a, b: a + c\ng = lambda a=1: a\n");
    let (ast, _) = ast::parse(&document.blocks()[0].source);
    let names: Vec<_> = ast.exprs().filter_map(|(id, _)| ast.name(id)).collect();
    assert_eq!(names, ["f", "g"]);
    let lambda = ast.exprs().find_map(|(_, expr)| match expr {
        ast::Expr::Lambda(lambda) => Some(lambda),
        _ => None,
    });
    let lambda = lambda.expect("one without defaults");
    assert_eq!(lambda.params, ["a", "b"]);
    assert!(matches!(lambda.ast.expr(lambda.body), ast::Expr::Binary { .. }));
    assert!(ast.exprs().any(|(_, expr)| matches!(expr, ast::Expr::Other("lambda"))));
}
