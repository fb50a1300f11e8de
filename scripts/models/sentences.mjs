// Sentences that the language model learns from, written for it.
export const SENTENCES = {
  English: [
    'where is the station', 'the train is late again today', 'i would like a cup of tea please', 'how much does this cost', 'we are going to the market in the morning',
    'she has two brothers and one sister', 'he lives in a small house by the sea', 'what time do you get up', 'they have never been to this city before', 'the children are playing in the garden',
    'it is raining and i have no umbrella', 'can you help me with my bag', 'my father works in a hospital', 'this is the best book that i have ever read', 'there are many people on the street',
    'do you speak another language', 'i do not understand the question', 'the water is very cold', 'we will see you tomorrow', 'have you had your breakfast yet',
    'the dog sleeps under the table', 'who is that man with the hat', 'please open the window', 'i was at home all day', 'you should not drive so fast', 'good morning my friend', 'thank you for your letter', 'it was a long day for all of us'
  ],
  German: [
    'wo ist der bahnhof', 'der zug hat heute wieder verspätung', 'ich möchte bitte eine tasse tee', 'wie viel kostet das', 'wir gehen am morgen auf den markt',
    'sie hat zwei brüder und eine schwester', 'er wohnt in einem kleinen haus am meer', 'wann stehst du auf', 'sie waren noch nie in dieser stadt', 'die kinder spielen im garten',
    'es regnet und ich habe keinen schirm', 'kannst du mir mit meiner tasche helfen', 'mein vater arbeitet in einem krankenhaus', 'das ist das beste buch das ich je gelesen habe', 'es sind viele leute auf der straße',
    'sprechen sie eine andere sprache', 'ich verstehe die frage nicht', 'das wasser ist sehr kalt', 'wir sehen uns morgen', 'hast du schon gefrühstückt',
    'der hund schläft unter dem tisch', 'wer ist der mann mit dem hut', 'bitte öffnen sie das fenster', 'ich war den ganzen tag zu hause', 'du solltest nicht so schnell fahren', 'guten morgen mein freund', 'danke für deinen brief', 'es war ein langer tag für uns alle'
  ],
  French: [
    'où est la gare', 'le train est encore en retard', 'je voudrais une tasse de thé', 'combien ça coûte', 'nous allons au marché le matin',
    'elle a deux frères et une soeur', 'il habite dans une petite maison près de la mer', 'à quelle heure tu te lèves', 'ils ne sont jamais venus dans cette ville', 'les enfants jouent dans le jardin',
    'il pleut et je n ai pas de parapluie', 'peux tu m aider avec mon sac', 'mon père travaille dans un hôpital', 'c est le meilleur livre que j ai lu', 'il y a beaucoup de gens dans la rue',
    'parlez vous une autre langue', 'je ne comprends pas la question', 'l eau est très froide', 'nous vous verrons demain', 'tu as déjà mangé',
    'le chien dort sous la table', 'qui est cet homme avec le chapeau', 'ouvrez la fenêtre s il vous plaît', 'j étais à la maison toute la journée', 'il ne faut pas rouler si vite', 'bonjour mon ami', 'merci pour ta lettre', 'c était une longue journée pour nous tous'
  ],
  Spanish: [
    'dónde está la estación', 'el tren llega tarde otra vez', 'quisiera una taza de té por favor', 'cuánto cuesta esto', 'vamos al mercado por la mañana',
    'ella tiene dos hermanos y una hermana', 'él vive en una casa pequeña junto al mar', 'a qué hora te levantas', 'nunca han estado en esta ciudad', 'los niños juegan en el jardín',
    'está lloviendo y no tengo paraguas', 'puedes ayudarme con mi bolsa', 'mi padre trabaja en un hospital', 'este es el mejor libro que he leído', 'hay mucha gente en la calle',
    'habla usted otro idioma', 'no entiendo la pregunta', 'el agua está muy fría', 'nos vemos mañana', 'ya has comido',
    'el perro duerme debajo de la mesa', 'quién es ese hombre con el sombrero', 'abra la ventana por favor', 'estuve en casa todo el día', 'no deberías conducir tan rápido', 'buenos días mi amigo', 'gracias por tu carta', 'fue un día largo para todos nosotros'
  ],
  Italian: [
    'dove è la stazione', 'il treno è di nuovo in ritardo', 'vorrei una tazza di tè per favore', 'quanto costa questo', 'andiamo al mercato la mattina',
    'lei ha due fratelli e una sorella', 'lui abita in una piccola casa vicino al mare', 'a che ora ti alzi', 'non sono mai stati in questa città', 'i bambini giocano nel giardino',
    'piove e non ho un ombrello', 'puoi aiutarmi con la mia borsa', 'mio padre lavora in un ospedale', 'questo è il libro più bello che ho letto', 'ci sono molte persone nella strada',
    'parla un altra lingua', 'non capisco la domanda', 'l acqua è molto fredda', 'ci vediamo domani', 'hai già mangiato',
    'il cane dorme sotto il tavolo', 'chi è quell uomo con il cappello', 'apra la finestra per favore', 'sono stato a casa tutto il giorno', 'non dovresti guidare così veloce', 'buongiorno amico mio', 'grazie per la tua lettera', 'è stata una lunga giornata per tutti noi'
  ]
}
