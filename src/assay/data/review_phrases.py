"""The words and frames that built-in reviews are made of; what they mean together is decided in ``reviews``.

Slots: <c> the clause that decides, <o> a clause of the opposite opinion, <i> the same without 'I' or 'we' (somebody
else holds it), <fact> a neutral sentence, <title> a quoted name, <thing> <aspect> <person> <day> words of the topic.
Capitals at the start of a sentence are set afterwards.
"""

# fmt: off

TOPICS: dict[str, dict[str, tuple[str, ...]]] = {
    "film": {
        "thing": (
            "film", "movie", "comedy", "thriller", "sequel", "documentary", "drama", "western",
        ),
        "aspect": (
            "acting", "plot", "script", "ending", "soundtrack", "dialogue", "pacing", "camera work", "casting",
            "opening scene", "second half", "lead performance", "humour", "editing",
        ),
        "fact": (
            "it runs for just under two hours", "the story is set in Lisbon in the fifties",
            "we saw it at the small cinema on Mill Road", "there is a short scene after the credits",
            "it was shot in eleven weeks", "the screening started at nine", "two actors play the same man",
            "it is based on a novel from 1962",
        ),
        "title": (
            "Terrible Beauty", "The Good Neighbour", "Bad Weather", "A Lovely War", "The Awful Truth",
            "Wonderful Town", "Poor Company", "Brilliant Mistakes", "Dull Knives", "The Charming Liar",
        ),
    },
    "food": {
        "thing": (
            "restaurant", "bistro", "diner", "café", "pizzeria", "bakery", "brunch place", "noodle bar",
        ),
        "aspect": (
            "service", "soup", "dessert", "coffee", "wine list", "main course", "bread", "seating", "atmosphere",
            "lunch menu", "salad", "seafood", "house sauce", "breakfast",
        ),
        "fact": (
            "it is next to the old post office", "we had a table by the window", "there are nine tables inside",
            "they open at seven on weekdays", "the menu changes every month", "we were a party of five",
            "the kitchen closes at ten", "parking is across the street",
        ),
        "title": (
            "The Lousy Goose", "Great Expectations", "Sweet Misery", "The Pleasant Pheasant", "Bitter End",
            "Heavenly Crumbs", "The Sloppy Spoon", "Fine Fettle", "Poor Tom's Pie", "Delightful Dozen",
        ),
    },
    "product": {
        "thing": (
            "phone", "laptop", "vacuum cleaner", "backpack", "blender", "camera", "keyboard", "heater",
        ),
        "aspect": (
            "battery", "screen", "build quality", "design", "sound", "manual", "packaging", "cable", "handle",
            "software", "finish", "setup", "power button", "warranty",
        ),
        "fact": (
            "it comes in grey and blue", "it weighs a little over two pounds", "the box holds two spare parts",
            "it arrived on a Thursday", "I use it mostly in the kitchen", "mine was made in Poland",
            "it replaces a model from 2015", "the plug has three pins",
        ),
        "title": (
            "Perfect Storm 3", "Bad Robot Mini", "SuperbOne", "Weak Signal Pro", "Happy Days 200", "Terrific Ten",
            "Ugly Duck", "Clever Clogs", "Horrid Henry XL", "Solid State",
        ),
    },
    "service": {
        "thing": (
            "hotel", "garage", "bank branch", "gym", "clinic", "travel agency", "hair salon", "language school",
        ),
        "aspect": (
            "staff", "booking system", "waiting room", "advice", "reception", "communication", "cleaning",
            "hotline", "first appointment", "follow-up", "billing", "location", "website", "training",
        ),
        "fact": (
            "it has been there since 1998", "the entrance is on the second floor", "my appointment was at noon",
            "they are closed on Mondays", "we stayed for three nights", "the office moved last spring",
            "they sent the form by post", "about twenty people work there",
        ),
        "title": (
            "Miserable Mike's", "Best Foot Forward", "Good Hands", "Nasty Gal Nails", "The Pleasure Dome",
            "Horrible Histories Tours", "Fair and Square", "Dreadful Dan's", "Bright Side", "Bad Habits",
        ),
    },
}

DAY = (
    "Monday", "Tuesday", "Friday", "Sunday", "week", "month", "weekend", "night",
)
PERSON = (
    "my sister", "a colleague", "my neighbour", "the man beside us", "one critic", "my old teacher",
    "a friend of mine", "the couple behind us", "my cousin", "some blogger",
)
# (positive, negative), so that [1] is negative; the two lists are meant to be equally frequent.
ADJECTIVES = (
    (
        "good", "great", "excellent", "wonderful", "superb", "impressive", "pleasant", "delightful", "brilliant",
        "lovely", "fantastic", "outstanding", "terrific", "charming", "satisfying", "remarkable", "splendid",
        "enjoyable", "memorable", "convincing", "refreshing", "solid", "first-rate", "strong", "clever",
        "thoughtful", "appealing",
    ),
    (
        "bad", "poor", "awful", "terrible", "dreadful", "disappointing", "mediocre", "horrible", "annoying", "weak",
        "clumsy", "tedious", "sloppy", "unpleasant", "dull", "forgettable", "frustrating", "shoddy", "lousy",
        "appalling", "unconvincing", "careless", "messy", "tiresome", "bland", "second-rate", "irritating",
    ),
)
VERBS = (  # infinitive, past
    (
        ("enjoy", "enjoyed"),
        ("like", "liked"),
        ("love", "loved"),
        ("admire", "admired"),
        ("appreciate", "appreciated"),
    ),
    (
        ("hate", "hated"),
        ("dislike", "disliked"),
        ("resent", "resented"),
        ("regret", "regretted"),
        ("loathe", "loathed"),
    ),
)
NOUNS = (
    (
        "treat", "delight", "triumph", "pleasure", "success", "gem", "bargain", "joy",
    ),
    (
        "letdown", "failure", "disaster", "nuisance", "bore", "mess", "blunder", "pain",
    ),
)
INTENSIFIERS = (
    "very", "really", "truly", "remarkably", "thoroughly", "genuinely", "quite", "surprisingly", "so",
)
NEGATORS = (
    "not", "never", "hardly", "not at all", "anything but", "far from", "by no means", "not exactly", "not even",
)
NO_NOUN = (
    "no", "hardly a", "not a", "far from a", "never a", "by no means a",
)

# Clauses: <adj>, <verb> and <noun> are opinions with whatever negates or strengthens them.
CLAUSES = (
    "the <aspect> was <adj>", "the <aspect> is <adj>", "the <thing> itself was <adj>", "this <thing> is <adj>",
    "the whole <thing> felt <adj>", "the <aspect> seemed <adj> to me", "for us the <aspect> was <adj>",
    "the <aspect> struck me as <adj>", "the <aspect> was <adj> throughout", "I found the <aspect> <adj>",
    "the <aspect> remained <adj> to the very last minute", "the <aspect> looked <adj>",
    "I thought the <aspect> was <adj>", "the <aspect> proved <adj>", "everything about the <aspect> was <adj>",
    "their <aspect> is <adj>", "the <aspect> was <adj> on all counts", "in my opinion the <aspect> was <adj>",
    "the <aspect> of this <thing> was <adj>", "we both felt the <aspect> was <adj>", "I <verb> the <aspect>",
    "I <verb> this <thing>", "we <verb> the <aspect>", "I <verb> the <aspect> of this <thing>",
    "our whole group <verb> the <aspect>", "I personally <verb> the <aspect>", "in the end I <verb> the <thing>",
    "the <aspect> was <noun>", "this <thing> is <noun>", "the <thing> turned out to be <noun>",
    "to me the <aspect> was <noun>", "choosing this <thing> was <noun>", "the <aspect> became <noun>",
)

FRAMES: dict[str, tuple[str, ...]] = {
    "plain": (
        "<c>, and that is all I want to say about this <thing>.", "<fact>. <c>.", "<c>. <fact>.", "honestly, <c>.",
        "last <day> we tried this <thing>, and <c>.", "<fact>, and <c>.",
        "having thought about it, I would say <c>.", "let me be brief: <c>.",
        "after the second visit I am certain that <c>.", "no surprise here: <c>.", "<fact>. <fact>. <c>.",
        "I went there last <day>, and <c>.", "if you ask me, <c>.", "<c>, as everyone could see.",
        "I had read nothing about the <thing> beforehand, and <c>.", "this was my first <thing> of this kind; <c>.",
        "you should know that <c>.", "<c>, which is why I am writing this.", "my verdict is simple: <c>.",
        "<fact>. having said that, <c>.", "we talked about it on the way home, and <c>.", "in short, <c>. <fact>.",
        "the first thing to mention is that <c>.", "<c>, at least on the <day> when we came.",
    ),
    "contrast": (
        "<o>, but <c>.", "<o>, yet <c>.", "although <o>, <c>.", "<c>, although <o>.", "while <o>, <c>.",
        "<o>. however, <c>.", "granted, <o>; still, <c>.", "even though <o>, <c>.", "<c>, even though <o>.",
        "it is true that <o>, but in the end <c>.", "<o>; all the same, <c>.", "despite the fact that <o>, <c>.",
        "<c>, despite the fact that <o>.", "<o>, and nevertheless <c>.", "never mind that <o>: <c>.",
        "<fact>. <o>, but <c>.", "at first <o>, but after an hour <c>.", "I admit that <o>, but <c>.",
        "<c>, and it hardly matters that <o>.", "on paper <o>, but in practice <c>.",
    ),
    "others": (
        "<person> said that <i>, but <c>.", "<person> told me that <i>. I disagree: <c>.",
        "<c>, whatever <person> says.", "according to <person>, <i>. that is not how I see it: <c>.",
        "<person> insists that <i>; <c>.", "<c>. <person>, on the other hand, claims that <i>.",
        "if you believe <person>, <i>. in fact <c>.",
        "<person> keeps repeating that <i>, and I keep answering that <c>.",
        "I had heard from <person> that <i>, but <c>.", "<person> wrote that <i>. I went there myself, and <c>.",
    ),
    "titles": (
        'it is called "<title>", and <c>.', '"<title>" is the name of the <thing>, and <c>.',
        '<c>. its name is "<title>".', 'last <day> we chose "<title>" from a long list; <c>.',
        'I picked "<title>" because of the name. <c>.', '<person> told us about "<title>", and <c>.',
        'a <thing> named "<title>" made me curious. <c>.', 'do not confuse it with "<title>": <c>.',
    ),
    "expectation": (
        "I expected that <i>. instead, <c>.", "people had warned us that <i>. as it happened, <c>.",
        "I was sure that <i> until I looked closer: <c>.", "the advertisement suggests that <i>. in reality <c>.",
        "we assumed <i>, and we were wrong: <c>.", "it used to be the case that <i>. these days <c>.",
        "from the pictures I concluded that <i>, but <c>.", "a year ago I would have said <i>. today <c>.",
    ),
}
SHARES = {"plain": 0.5, "contrast": 0.26, "others": 0.06, "titles": 0.12, "expectation": 0.06}
"""How often each kind of frame is used."""
