fn main() {
    for (name, _) in remand_workflow::shipped::WORKFLOWS {
        let t = std::time::Instant::now();
        let c = remand_workflow::check_shipped(name).unwrap();
        println!("== {name}: accepted {} in {:?}", c.accepted(), t.elapsed());
        for d in &c.diagnostics {
            println!(
                "{}",
                d.render(&c.source, remand_workflow::diagnostic::Style::Plain)
            );
        }
        if let Some(k) = &c.compiled {
            if c.accepted() {
                for n in [1, 2, 3, 6, 20] {
                    println!(
                        "{n}: {:?}",
                        remand_workflow::explore::bound(&k.program, &[("tasks", n), ("gaps", 0)])
                    );
                }
            }
        }
    }
}
